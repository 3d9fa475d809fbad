# The library, its headers, what pkg-config and CMake users look for, and the documentation. The files name no prefix:
# cmake --install --prefix, DESTDIR, and a copy of the installed tree all work.
include(CMakePackageConfigHelpers)
install(TARGETS sparsegpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES src/sparsegpu.h ${PROJECT_BINARY_DIR}/include/sparsegpuversion.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# sparsegpu.pc goes by where it lies, unless a folder is absolute.
set(SPARSEGPU_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(SPARSEGPU_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(SPARSEGPU_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(SPARSEGPU_PC_${folder} "${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
configure_file(cmake/sparsegpu.pc.in ${PROJECT_BINARY_DIR}/sparsegpu.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sparsegpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/sparsegpuConfig.cmake.in ${PROJECT_BINARY_DIR}/sparsegpuConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sparsegpu PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sparsegpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sparsegpuConfig.cmake ${PROJECT_BINARY_DIR}/sparsegpuConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sparsegpu)

foreach(file README.md CHANGELOG.md CONTRIBUTING.md LICENSE) # an unpacked part of the tree may lack some
  if(EXISTS ${PROJECT_SOURCE_DIR}/${file})
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.tsv" PATTERN
  "*.png")
file(GLOB examples examples/*.c examples/*.cxx examples/*.py) # docs/examples.md links them
install(FILES ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# Manual pages for man, from the comments of the sources.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/tools/manual_pages.py)
  install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/manual_pages.py\" --man \"${PROJECT_BINARY_DIR}/man\")")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
