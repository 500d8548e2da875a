# Installs the build tree BUILD to a folder below WORK, builds the projects below SOURCE against
# it, and runs their programs.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})

# what was compiled for this CPU is only installed by who says that it stays on this machine
if(NATIVE)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "-DLFIW_NATIVE=OFF" OR EXISTS ${WORK}/prefix)
    message(FATAL_ERROR "a native build was installed, or refused without a cure:\n${output}")
  endif()
endif()
step(${CMAKE_COMMAND} -DCMAKE_INSTALL_PREFIX=${WORK}/prefix -DLFIW_INSTALL_NATIVE=ON
     -P ${BUILD}/cmake_install.cmake)

foreach(user ope core)
  step(${CMAKE_COMMAND} -S ${SOURCE}/${user} -B ${WORK}/${user} -G Ninja
       -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Release)
  step(${CMAKE_COMMAND} --build ${WORK}/${user})
endforeach()
step(${WORK}/ope/lfiw_user)
step(${WORK}/core/lfiw_core_user)
