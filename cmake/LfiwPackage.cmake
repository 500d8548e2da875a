# Debian packages: lfiw, the program with manual and experiment files, and liblfiw-dev, the library.
#   cmake --build build/package --target package
find_program(LFIW_SHLIBDEPS dpkg-shlibdeps)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_VENDOR "The lfiw authors")
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${LFIW_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${LFIW_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE ${PROJECT_HOMEPAGE_URL})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lfiw)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblfiw-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)

# Their first line is the project's description.
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "\
lfiw tells how well a new policy would do, from logged data of another one,
before anyone dares to run it. It learns a model of the environment from the
log, rolls the new policy out in the model, corrects the model's bias, and
prints a value, an interval, and a verdict in plain words.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "\
Static libraries, headers and the CMake package of lfiw, which evaluates a
policy from logged data of another one.")

# Libraries that are linked are found by dpkg-shlibdeps. Which OpenBLAS and LAPACK stand behind them
# is not: the reference implementations are many times slower. Without gnuplot, reports have no
# plots.
if(LFIW_SHLIBDEPS)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "liblfiw-dev, xdg-utils")

# Who links the library needs what its own build needs, but what only tests and sources include;
# CMake's package of libzip looks for three tools.
file(STRINGS cmake/debian-packages.txt packages REGEX "^[^#]")
list(FILTER packages INCLUDE REGEX "(-dev|^zip.*)$")
list(REMOVE_ITEM packages libgtest-dev libgmock-dev libbenchmark-dev libcli11-dev librandom123-dev)
list(JOIN packages ", " CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "cmake, g++")
include(CPack)
