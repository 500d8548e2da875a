include(CMakePackageConfigHelpers)

set(LFIW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lfiw)
install(EXPORT lfiw_targets NAMESPACE lfiw:: DESTINATION ${LFIW_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lfiwConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/lfiwConfig.cmake cmake/LfiwDependencies.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/lfiwConfigVersion.cmake DESTINATION ${LFIW_PACKAGE_DIR})
