# lfiw_library(NAME SOURCES ... [LINK ...] [LINK_PRIVATE ...]): one library per folder, exported as
# lfiw::NAME, with the project's warnings.
include(GNUInstallDirs)

find_program(LFIW_CCACHE ccache)
if(LFIW_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LFIW_CCACHE})
endif()

# -W[maybe-]uninitialized is off because GCC 12 reports its own AVX-512 intrinsics.
add_library(lfiw_warnings INTERFACE)
target_compile_options(lfiw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  -Wno-maybe-uninitialized -Wno-uninitialized)

function(lfiw_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  add_library(lfiw_${name} STATIC ${ARG_SOURCES})
  add_library(lfiw::${name} ALIAS lfiw_${name})
  set_target_properties(lfiw_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(lfiw_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/lfiw>)
  target_compile_features(lfiw_${name} PUBLIC cxx_std_20)
  # The alignment is part of the interface: it must not depend on the CPU flags of a user's build.
  target_compile_definitions(lfiw_${name} PUBLIC EIGEN_MAX_ALIGN_BYTES=64)
  if(LFIW_NATIVE)
    target_compile_options(lfiw_${name} PRIVATE -march=native)
  endif()
  target_link_libraries(lfiw_${name} PUBLIC ${ARG_LINK}
    PRIVATE ${ARG_LINK_PRIVATE} $<BUILD_INTERFACE:lfiw_warnings>)
  install(TARGETS lfiw_${name} EXPORT lfiw_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lfiw
    FILES_MATCHING PATTERN "*.h")
endfunction()
