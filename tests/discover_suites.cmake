# Writes OUTPUT, which tells ctest the test suites of EXECUTABLE, each an entry of its own by the
# name FOLDER.Suite: a process for every single test would spend most of its time on loading
# LibTorch. Suites whose names are among TRAINING get the label `training`, all others LABEL.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${EXECUTABLE} --gtest_list_tests OUTPUT_VARIABLE listing
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} does not list its tests")
endif()
string(REPLACE "," ";" training "${TRAINING}")
# names of tests are indented; the first line is gtest_main's own
string(REGEX MATCHALL "\n[^ \n]+\\." suites "\n${listing}")
set(script "")
foreach(suite ${suites})
  string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
  set(label ${LABEL})
  set(timeout ${TIMEOUT})
  if(suite IN_LIST training)
    set(label training)
    set(timeout 600)
  endif()
  string(APPEND script
    "add_test([=[${FOLDER}.${suite}]=] [=[${EXECUTABLE}]=] [=[--gtest_filter=${suite}.*]=])\n"
    "set_tests_properties([=[${FOLDER}.${suite}]=] PROPERTIES LABELS ${label} TIMEOUT ${timeout} "
    "WORKING_DIRECTORY [=[${DIRECTORY}]=])\n")
endforeach()
file(WRITE ${OUTPUT} "${script}")
