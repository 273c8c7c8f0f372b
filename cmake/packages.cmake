# `cpack` makes a tarball of all installed files; it can be unpacked anywhere: programs find the
# programs and files that they need beside themselves. (debian/ makes packages.)
set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_NAME respike)
set(CPACK_PACKAGE_VENDOR "The Respike authors")
set(CPACK_PACKAGE_FILE_NAME respike-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
