# lfiw_library(NAME [TORCH] SOURCES ... [LINK ...] [LINK_PRIVATE ...]): a static library of one
# folder, exported as lfiw::NAME, with the project's warnings. TORCH: its files see LibTorch.
# lfiw_objects(NAME SOURCES ... LINK ...): object files of a library that see LibTorch.
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
  -Wno-maybe-uninitialized -Wno-uninitialized)

# Headers that most files need and that take longer to read than most files to compile.
set(LFIW_COMMON_HEADERS <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
  <string> <utility> <vector> <fmt/format.h> <Eigen/Core>)

function(lfiw_compile target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/lfiw>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The alignment is part of the interface: it must not depend on the CPU flags of a user's build.
  target_compile_definitions(${target} PUBLIC EIGEN_MAX_ALIGN_BYTES=64)
  # A precompiled header is only known again by ccache if GCC keeps the line that names it.
  target_compile_options(${target} PRIVATE -fpch-preprocess
    $<$<BOOL:${LFIW_NATIVE}>:-march=native>)
endfunction()

function(lfiw_library name)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(lfiw_${name} STATIC ${ARG_SOURCES})
  add_library(lfiw::${name} ALIAS lfiw_${name})
  set_target_properties(lfiw_${name} PROPERTIES EXPORT_NAME ${name})
  lfiw_compile(lfiw_${name})
  target_link_libraries(lfiw_${name} PUBLIC ${ARG_LINK}
    PRIVATE ${ARG_LINK_PRIVATE} $<BUILD_INTERFACE:lfiw_warnings>)
  if(ARG_TORCH)
    target_precompile_headers(lfiw_${name} PRIVATE <torch/torch.h>)
  else()
    target_precompile_headers(lfiw_${name} PRIVATE ${LFIW_COMMON_HEADERS})
  endif()
  install(TARGETS lfiw_${name} EXPORT lfiw_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lfiw
    FILES_MATCHING PATTERN "*.h")
endfunction()

function(lfiw_objects name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(lfiw_${name} OBJECT ${ARG_SOURCES})
  lfiw_compile(lfiw_${name})
  target_link_libraries(lfiw_${name} PRIVATE ${ARG_LINK} lfiw_warnings)
  target_precompile_headers(lfiw_${name} PRIVATE <torch/torch.h>)
endfunction()
