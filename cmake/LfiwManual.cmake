# What is installed beside program and library, for people: the manual page and the completions of
# shells, which the program makes from its own command line, experiment files, and documents.
find_program(LFIW_GZIP gzip REQUIRED)

set(LFIW_MANUAL_DIR ${CMAKE_BINARY_DIR}/manual)
set(LFIW_MANUAL_FILES ${LFIW_MANUAL_DIR}/lfiw.1.gz ${LFIW_MANUAL_DIR}/lfiw.bash
  ${LFIW_MANUAL_DIR}/lfiw.zsh ${LFIW_MANUAL_DIR}/changelog.gz
  ${LFIW_MANUAL_DIR}/changelog.Debian.gz)
set(LFIW_WRITE_MANUAL ${PROJECT_SOURCE_DIR}/cmake/packaging/write_manual.cmake)
add_custom_command(OUTPUT ${LFIW_MANUAL_FILES}
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:lfiw> -DGZIP=${LFIW_GZIP}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT_DIR=${LFIW_MANUAL_DIR}
    -DVERSION=${PROJECT_VERSION}-${LFIW_PACKAGE_RELEASE} "-DMAINTAINER=${LFIW_MAINTAINER}"
    -P ${LFIW_WRITE_MANUAL}
  DEPENDS lfiw ${LFIW_WRITE_MANUAL} ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  COMMENT "Writing the manual page and completions" VERBATIM)
add_custom_target(lfiw_manual ALL DEPENDS ${LFIW_MANUAL_FILES})

install(FILES ${LFIW_MANUAL_DIR}/lfiw.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT program)
install(FILES ${LFIW_MANUAL_DIR}/lfiw.bash RENAME lfiw COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${LFIW_MANUAL_DIR}/lfiw.zsh RENAME _lfiw COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
set(LFIW_PLAIN_FILES DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ
  WORLD_READ)
install(DIRECTORY policies/export DESTINATION ${CMAKE_INSTALL_DATADIR}/lfiw
  COMPONENT program ${LFIW_PLAIN_FILES} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY experiments/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/lfiw
  COMPONENT program ${LFIW_PLAIN_FILES})
install(FILES README.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lfiw
  COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lfiw
  COMPONENT program ${LFIW_PLAIN_FILES} PATTERN make_configuration.py EXCLUDE
  PATTERN Doxyfile EXCLUDE PATTERN doxygen_filter.py EXCLUDE
  PATTERN site_hooks.py EXCLUDE PATTERN __pycache__ EXCLUDE)

# What Debian wants of every package; the library's has no documents but these.
foreach(package program:lfiw library:liblfiw-dev)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES cmake/packaging/copyright ${LFIW_MANUAL_DIR}/changelog.gz
    ${LFIW_MANUAL_DIR}/changelog.Debian.gz COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name})
endforeach()
