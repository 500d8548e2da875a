# Makes the Debian package of the program of the build tree BUILD below WORK, and looks into it.
function(tell out)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "there is no ${pattern} in:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(ENV{LFIW_INSTALL_NATIVE} 1)
tell(output ${CPACK} --config ${BUILD}/CPackConfig.cmake -B ${WORK}
  -D CPACK_COMPONENTS_ALL=program -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
file(GLOB package ${WORK}/lfiw_*.deb)

# what is linked, what is loaded behind it, and what is started
tell(fields dpkg-deb -f ${package} Depends Recommends Section Maintainer Homepage Description)
foreach(pattern "libmujoco" "libtorch" "libhdf5" "libc6 \\(>=" "libopenblas0-pthread"
    "Recommends: gnuplot" "Section: science" "Maintainer: .+ <.+@.+>" "Homepage: https"
    "Description: Off-policy evaluation.*\n lfiw tells")
  expect("${fields}" "${pattern}")
endforeach()

tell(files dpkg-deb -c ${package})
foreach(pattern "/usr/bin/lfiw\n" "/usr/share/man/man1/lfiw.1.gz"
    "/usr/share/bash-completion/completions/lfiw\n" "/usr/share/zsh/vendor-completions/_lfiw\n"
    "/usr/share/lfiw/configs/quickstart.yaml" "/usr/share/doc/lfiw/copyright"
    "/usr/share/doc/lfiw/changelog.Debian.gz" "/usr/share/doc/lfiw/docs/index.md")
  expect("${files}" "${pattern}")
endforeach()
if(files MATCHES "\\.a\n|/usr/include|site_hooks")
  message(FATAL_ERROR "the package of the program has what belongs elsewhere:\n${files}")
endif()
