# Writes what is installed beside PROGRAM to OUTPUT_DIR: manual page, completions and changelogs.

# write(FILE command...): a file of what the command prints.
function(write file)
  execute_process(COMMAND ${ARGN} OUTPUT_FILE ${OUTPUT_DIR}/${file} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed with status ${status}: ${ARGN}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${OUTPUT_DIR})
write(lfiw.1 ${PROGRAM} manual page)
write(lfiw.bash ${PROGRAM} manual bash)
write(lfiw.zsh ${PROGRAM} manual zsh)

# the date of the revision, so that the same sources give the same package
execute_process(COMMAND git -C ${SOURCE_DIR} log -1 --format=%aD
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
string(CONFIGURE [[
lfiw (@VERSION@) unstable; urgency=medium

  * See changelog.gz.

 -- @MAINTAINER@  @date@
]] text @ONLY)
file(WRITE ${OUTPUT_DIR}/changelog.Debian "${text}")

write(lfiw.1.gz ${GZIP} -9nc ${OUTPUT_DIR}/lfiw.1)
write(changelog.gz ${GZIP} -9nc ${SOURCE_DIR}/CHANGELOG.md)
write(changelog.Debian.gz ${GZIP} -9nc ${OUTPUT_DIR}/changelog.Debian)
