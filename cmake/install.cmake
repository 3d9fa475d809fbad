# The library, its one header, and what pkg-config and CMake users look for.
include(CMakePackageConfigHelpers)
install(TARGETS sparsegpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES src/sparsegpu.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/sparsegpu.pc.in ${PROJECT_BINARY_DIR}/sparsegpu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sparsegpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(cmake/sparsegpuConfig.cmake.in ${PROJECT_BINARY_DIR}/sparsegpuConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sparsegpu PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sparsegpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sparsegpuConfig.cmake ${PROJECT_BINARY_DIR}/sparsegpuConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sparsegpu)
