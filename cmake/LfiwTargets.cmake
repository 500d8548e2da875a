include(GNUInstallDirs)

# Paths below the checkout reach the compiler relative to it, so that ccache knows a file again in
# another checkout; it is told that precompiled headers may be trusted.
find_program(LFIW_CCACHE ccache)
if(LFIW_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${LFIW_CCACHE})
endif()

# -W[maybe-]uninitialized is off because GCC 12 reports its own AVX-512 intrinsics.
add_library(lfiw_warnings INTERFACE)
target_compile_options(lfiw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  -Wno-maybe-uninitialized -Wno-uninitialized
  # of a file that includes sources: each is compiled once
  $<$<BOOL:${LFIW_UNITY}>:-Wno-subobject-linkage>)

# The string ABI that LibTorch was compiled with: all files must have it, and precompiled headers too.
get_target_property(LFIW_STRING_ABI torch INTERFACE_COMPILE_OPTIONS)
list(FILTER LFIW_STRING_ABI INCLUDE REGEX "_GLIBCXX_USE_CXX11_ABI")

# lfiw_compile(TARGET): what all targets of the project have in common.
function(lfiw_compile target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/lfiw>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The alignment is part of the interface: it must not depend on the CPU flags of a user's build.
  target_compile_definitions(${target} PUBLIC EIGEN_MAX_ALIGN_BYTES=64)
  # A precompiled header is only known again by ccache if GCC keeps the line that names it.
  target_compile_options(${target} PRIVATE
    $<$<NOT:$<BOOL:${CMAKE_DISABLE_PRECOMPILE_HEADERS}>>:-fpch-preprocess>
    $<$<BOOL:${LFIW_NATIVE}>:-march=native> ${LFIW_STRING_ABI})
endfunction()

# Headers that most files need and that take longer to read than most files to compile. They are
# compiled once for all targets whose definitions and flags are the same.
set(LFIW_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map>
  <memory> <optional> <ranges> <span> <string> <utility> <vector> <fmt/format.h> <fmt/ranges.h>
  <Eigen/Core> <nlohmann/json.hpp>)

# lfiw_precompiled(NAME HEADERS ... LINK ...): object files that carry a precompiled header for
# target_precompile_headers(... REUSE_FROM NAME).
function(lfiw_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  lfiw_compile(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} lfiw_warnings)
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()
lfiw_precompiled(lfiw_headers HEADERS ${LFIW_COMMON_HEADERS}
  LINK Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json)

# lfiw_batch(OUT NAME SOURCES...): with LFIW_UNITY, files that include LFIW_UNITY sources each, so
# that headers and templates are compiled once for all of them; other sources are passed on as they
# are: generated ones, object files, and those with the property LFIW_ALONE. CMake's own UNITY_BUILD
# would write the path of the checkout into these files, and ccache would not know them elsewhere.
function(lfiw_batch out name)
  set(batched "")
  set(alone "")
  foreach(source ${ARGN})
    get_source_file_property(is_alone "${source}" LFIW_ALONE)
    if(NOT LFIW_UNITY OR is_alone STREQUAL "ON" OR source MATCHES "^\\$|^${PROJECT_BINARY_DIR}")
      list(APPEND alone ${source})
    else()
      list(APPEND batched ${source})
    endif()
  endforeach()
  set(number 0)
  while(batched)
    list(SUBLIST batched 0 ${LFIW_UNITY} batch)
    list(LENGTH batch length)
    set(text "")
    foreach(source ${batch})
      list(POP_FRONT batched)
      file(REAL_PATH ${source} path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    if(length EQUAL 1)
      list(APPEND alone ${batch})
    else()
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}_batch_${number}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND alone ${file})
      math(EXPR number "${number} + 1")
    endif()
  endwhile()
  set(${out} ${alone} PARENT_SCOPE)
endfunction()

# lfiw_library(NAME [PROGRAM] SOURCES ... [LINK ...] [LINK_PRIVATE ...] [LINK_ONLY ...]
# [PUBLIC_HEADERS ...]): a static library of one folder, lfiw::NAME, with the project's warnings.
# PROGRAM: it belongs to the program and is not installed.
# LINK_ONLY: libraries that only object files of another target call. PUBLIC_HEADERS: those that
# users include; they are installed with all headers that they include.
function(lfiw_library name)
  cmake_parse_arguments(ARG "PROGRAM" ""
    "SOURCES;LINK;LINK_PRIVATE;LINK_ONLY;PUBLIC_HEADERS" ${ARGN})
  lfiw_batch(sources lfiw_${name} ${ARG_SOURCES})
  add_library(lfiw_${name} STATIC ${sources})
  add_library(lfiw::${name} ALIAS lfiw_${name})
  set_target_properties(lfiw_${name} PROPERTIES EXPORT_NAME ${name})
  lfiw_compile(lfiw_${name})
  list(TRANSFORM ARG_LINK_ONLY REPLACE "(.+)" "$<LINK_ONLY:\\1>")
  target_link_libraries(lfiw_${name} PUBLIC ${ARG_LINK}
    PRIVATE ${ARG_LINK_PRIVATE} $<BUILD_INTERFACE:lfiw_warnings> INTERFACE ${ARG_LINK_ONLY})
  target_precompile_headers(lfiw_${name} REUSE_FROM lfiw_headers)
  lfiw_check_needs(${name} ${ARG_LINK} ${ARG_LINK_PRIVATE})
  if(NOT ARG_PROGRAM)
    install(TARGETS lfiw_${name} EXPORT lfiw_${name}_targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  foreach(header ${ARG_PUBLIC_HEADERS})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
      message(FATAL_ERROR "PUBLIC_HEADERS of lfiw_library(${name}): there is no ${header}")
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set_property(GLOBAL APPEND PROPERTY LFIW_PUBLIC_HEADERS ${path})
  endforeach()
endfunction()

# Stops where a library links a component that cmake/LfiwDependencies.cmake does not know of.
function(lfiw_check_needs name)
  lfiw_close(needed ${name})
  list(APPEND needed hdf5 onednn openblas zstd)
  foreach(library ${ARGN})
    string(REGEX REPLACE "^lfiw::" "" component "${library}")
    if(NOT component STREQUAL library AND NOT component IN_LIST needed)
      message(FATAL_ERROR "lfiw_library(${name}) links ${library}: add ${component} to "
        "LFIW_${name}_NEEDS in cmake/LfiwDependencies.cmake")
    endif()
  endforeach()
endfunction()

# lfiw_objects(NAME SOURCES ... LINK ...): object files of a library that see LibTorch.
function(lfiw_objects name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  lfiw_batch(sources lfiw_${name} ${ARG_SOURCES})
  add_library(lfiw_${name} OBJECT ${sources})
  lfiw_compile(lfiw_${name})
  target_link_libraries(lfiw_${name} PRIVATE ${ARG_LINK} lfiw_warnings)
  target_precompile_headers(lfiw_${name} REUSE_FROM lfiw_headers)
endfunction()
