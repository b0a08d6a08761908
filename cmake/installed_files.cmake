# Writes the list of what was installed, one path a line; not for packages, whose manager has one.
if(NOT CMAKE_INSTALL_COMPONENT)
	set(path "${CMAKE_INSTALL_PREFIX}/${installed_files}")
	list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${path}")
	list(JOIN CMAKE_INSTALL_MANIFEST_FILES "\n" lines)
	file(WRITE "$ENV{DESTDIR}${path}" "${lines}\n")
endif()
