# The files that cmake --install installs, except for the programs: their folders install those.
include(CMakePackageConfigHelpers)

# In the build the headers come from the source tree, for other projects from the installation.
set_property(TARGET trace PROPERTY INTERFACE_INCLUDE_DIRECTORIES $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
install(TARGETS trace tracer tracer-static EXPORT trace-toolkitTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Not tracer.h and probes.h, because the loader is not a library yet.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/trace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	PATTERN tracer.h EXCLUDE PATTERN probes.h EXCLUDE)
install(EXPORT trace-toolkitTargets NAMESPACE trace:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/trace-toolkitConfig.cmake.in trace-toolkitConfig.cmake
	INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)
write_basic_package_version_file(trace-toolkitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/trace-toolkitConfig.cmake ${CMAKE_BINARY_DIR}/trace-toolkitConfigVersion.cmake
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trace-toolkit)

# pkg-config files use paths relative to their own place, as the CMake package does, because
# cmake --install may have a --prefix that is not known here.
set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
	file(RELATIVE_PATH PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
	string(REGEX REPLACE "/$" "" PC_PREFIX "\${pcfiledir}/${PC_PREFIX}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
	set(PC_${folder} \${prefix}/${CMAKE_INSTALL_${folder}})
	if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
		set(PC_${folder} ${CMAKE_INSTALL_${folder}})
	endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/libtrace.pc.in libtrace.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/libtracer.pc.in libtracer.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/libtrace.pc ${CMAKE_BINARY_DIR}/libtracer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
if(man_pages)
	install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
# Section 3: a page for each public header, and for each other name in its NAME section a page that includes it.
file(GLOB man_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.3)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
foreach(page ${man_pages})
	get_filename_component(page_name ${page} NAME)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
	file(STRINGS ${page} names REGEX "^[a-z_]+, .* .- ")
	string(REGEX REPLACE " .- .*" "" names "${names}")
	string(REPLACE ", " ";" names "${names}")
	foreach(name ${names})
		if(NOT ${name}.3 STREQUAL ${page_name})
			file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/man3/${name}.3 CONTENT ".so man3/${page_name}\n")
			install(FILES ${CMAKE_BINARY_DIR}/man3/${name}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
		endif()
	endforeach()
endforeach()
file(GLOB guides CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/docs/*.svg)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${guides} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # README links to docs/, and the manual names it
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
