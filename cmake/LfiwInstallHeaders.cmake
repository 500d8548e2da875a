# Installs LFIW_PUBLIC_HEADERS (paths below LFIW_SOURCE_DIR), and the headers that they include, to
# LFIW_INCLUDE_DIR. All other headers are the library's own. An installed header may include no
# library but those that its users see as well, so a header that includes another one must stay out
# of reach of the public ones.
cmake_policy(VERSION 3.22)
set(allowed "^<([a-z_]+|Eigen/[A-Za-z]+|fmt/[a-z]+\\.h|nlohmann/json(_fwd)?\\.hpp)>$")

set(headers)
set(left ${LFIW_PUBLIC_HEADERS})
while(left)
  list(POP_FRONT left header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${LFIW_SOURCE_DIR}/${header} includes REGEX "^#include ")
  foreach(line ${includes})
    string(REGEX REPLACE "^#include ([<\"][^>\"]+[>\"]).*" "\\1" name "${line}")
    if(name MATCHES "^\"(.*)\"$")
      list(APPEND left ${CMAKE_MATCH_1})
    elseif(NOT name MATCHES "${allowed}")
      message(FATAL_ERROR "${header} is installed, as a header of PUBLIC_HEADERS includes it, but "
        "it includes ${name}, which users of lfiw need not have: move what needs ${name} to a "
        "source file, or do not include ${header} from a public header")
    endif()
  endforeach()
endwhile()

foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${LFIW_SOURCE_DIR}/${header} DESTINATION ${LFIW_INCLUDE_DIR}/${folder})
endforeach()
