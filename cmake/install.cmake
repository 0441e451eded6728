# How the library is installed, and found again with find_package(inlay).
include(CMakePackageConfigHelpers)

set(inlay_package ${CMAKE_INSTALL_LIBDIR}/cmake/inlay)
set_target_properties(inlay PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS inlay EXPORT inlayTargets)
install(DIRECTORY include/inlay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT inlayTargets NAMESPACE inlay:: DESTINATION ${inlay_package})

if(TARGET pcre2-8-static)
  set(inlay_links_pcre2 OFF)  # it was fetched: its objects are in the library
else()
  set(inlay_links_pcre2 ON)
endif()
if(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS OFF)
endif()
configure_package_config_file(cmake/inlayConfig.cmake.in inlayConfig.cmake INSTALL_DESTINATION ${inlay_package})
write_basic_package_version_file(inlayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/inlayConfig.cmake ${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake
  DESTINATION ${inlay_package})
