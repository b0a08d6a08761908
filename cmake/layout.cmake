# Where files are installed, and by which component (a Debian package is made of each):
#
#   programs    tracedaemon, tracectl, tracevisualizer, the libraries of --preload, the unit for systemd, the documents
#   libtrace    the shared library; libtracer likewise
#   dev         headers, static library, pkg-config and CMake packages, sections 3 and 7 of the manual, examples
#
# On Debian libraries go to lib/x86_64-linux-gnu for each prefix, not only for /usr, so that packages can be made from
# any build. The compiler, the dynamic linker and pkg-config search /usr/local/lib/x86_64-linux-gnu there.
if(NOT DEFINED CMAKE_INSTALL_LIBDIR AND EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
	set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Object code libraries")
endif()
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME programs)
set(INSTALL_PRELOADDIR ${CMAKE_INSTALL_LIBDIR}/trace-toolkit)
