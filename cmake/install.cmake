# Installs libraries, headers and the package that find_package(reprise) finds.
include(CMakePackageConfigHelpers)

foreach(folder ir passes codegen compiler runtime frontend)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/reprise
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
          PATTERN "codegen/llvm" EXCLUDE PATTERN "codegen/spirv" EXCLUDE
          PATTERN "python" EXCLUDE PATTERN "frontend/include" EXCLUDE)
endforeach()
# What users include as <reprise/reprise.h>, in the source tree as after installing.
install(FILES frontend/include/reprise/reprise.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/reprise)

install(TARGETS reprise EXPORT reprise LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS reprise_llvm reprise_spirv LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
install(EXPORT reprise NAMESPACE reprise:: FILE reprise-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/reprise-config.cmake.in ${PROJECT_BINARY_DIR}/reprise-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/reprise-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/reprise-config.cmake
              ${PROJECT_BINARY_DIR}/reprise-config-version.cmake DESTINATION ${package_dir})
