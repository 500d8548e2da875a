include(CMakePackageConfigHelpers)

set(LFIW_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lfiw)
foreach(component ${LFIW_COMPONENTS})
  install(EXPORT lfiw_${component}_targets NAMESPACE lfiw:: DESTINATION ${LFIW_PACKAGE_DIR})
endforeach()
configure_file(cmake/lfiwConfig.cmake.in lfiwConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lfiwConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/LfiwDependencies.cmake cmake/LfiwWheels.cmake ${CMAKE_CURRENT_BINARY_DIR}/lfiwConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/lfiwConfigVersion.cmake DESTINATION ${LFIW_PACKAGE_DIR})

# The public headers and what they include, worked out when they are installed.
get_property(roots GLOBAL PROPERTY LFIW_PUBLIC_HEADERS)
install(CODE "
  set(LFIW_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
  set(LFIW_PUBLIC_HEADERS \"${roots}\")
  set(LFIW_INCLUDE_DIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/lfiw\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/LfiwInstallHeaders.cmake\")")
