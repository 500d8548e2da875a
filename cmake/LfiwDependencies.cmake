# What each component of lfiw needs: other components (NEEDS) and packages, all of which the system
# provides; nothing is downloaded. The same file serves this build and, installed, projects that
# call find_package(lfiw COMPONENTS ...), so that who wants one component needs no package of
# another.
set(LFIW_core_PACKAGES Threads OpenMP OneDNN TBB Eigen3 Boost yaml-cpp fmt nlohmann_json libzip
  OpenSSL OpenBLAS HDF5)
set(LFIW_images_NEEDS core)
set(LFIW_images_PACKAGES PNG libzip)
set(LFIW_envs_NEEDS core)
set(LFIW_envs_PACKAGES mujoco)
set(LFIW_models_NEEDS core)
set(LFIW_models_PACKAGES Torch)
set(LFIW_image_models_NEEDS core images models)
set(LFIW_image_models_PACKAGES Torch)
set(LFIW_policies_NEEDS core envs models)
set(LFIW_policies_PACKAGES libzip Torch)
set(LFIW_ope_NEEDS core envs models policies)
set(LFIW_presentation_NEEDS core envs models)
set(LFIW_experiments_NEEDS core envs models policies ope presentation)
set(LFIW_image_gof_NEEDS image_models ope presentation)
set(LFIW_omniglot_NEEDS image_gof image_models ope presentation)
set(LFIW_cli_NEEDS experiments image_gof omniglot)

# lfiw_close(OUT component...): the components with all that they need, those below first.
function(lfiw_close out)
  set(closed)
  foreach(component ${ARGN})
    lfiw_close(below ${LFIW_${component}_NEEDS})
    list(APPEND closed ${below} ${component})
  endforeach()
  list(REMOVE_DUPLICATES closed)
  set(${out} ${closed} PARENT_SCOPE)
endfunction()

# Stops a configuration, or tells find_package(lfiw) why it fails.
macro(lfiw_missing text)
  if(DEFINED CMAKE_FIND_PACKAGE_NAME)
    set(lfiw_FOUND FALSE)
    set(lfiw_NOT_FOUND_MESSAGE "${text}")
    return()
  endif()
  message(FATAL_ERROR "${text}")
endmacro()

macro(lfiw_find_openblas)
  find_library(LFIW_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-pthread)
  find_path(LFIW_CBLAS_INCLUDE NAMES cblas.h
            PATH_SUFFIXES openblas-pthread x86_64-linux-gnu/openblas-pthread openblas)
  if(NOT LFIW_OPENBLAS OR NOT LFIW_CBLAS_INCLUDE)
    lfiw_missing("OpenBLAS was not found; install libopenblas-dev (reference BLAS is 17-38 times \
slower and is not supported)")
  endif()
  if(NOT TARGET lfiw::openblas)
    add_library(lfiw::openblas UNKNOWN IMPORTED)
    set_target_properties(lfiw::openblas PROPERTIES
      IMPORTED_LOCATION "${LFIW_OPENBLAS}"
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_CBLAS_INCLUDE}")
  endif()
endmacro()

# oneDNN's own package file asks for OpenCL, which is not used here.
macro(lfiw_find_onednn)
  find_library(LFIW_ONEDNN NAMES dnnl)
  find_path(LFIW_ONEDNN_INCLUDE NAMES oneapi/dnnl/dnnl.h)
  if(NOT LFIW_ONEDNN OR NOT LFIW_ONEDNN_INCLUDE)
    lfiw_missing("oneDNN was not found; install libdnnl-dev")
  endif()
  if(NOT TARGET lfiw::onednn)
    add_library(lfiw::onednn UNKNOWN IMPORTED)
    set_target_properties(lfiw::onednn PROPERTIES
      IMPORTED_LOCATION "${LFIW_ONEDNN}"
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_ONEDNN_INCLUDE}")
  endif()
endmacro()

# CMake's own FindHDF5 compiles C, a language that neither this project nor its users need.
macro(lfiw_find_hdf5)
  find_library(LFIW_HDF5 NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
  find_path(LFIW_HDF5_INCLUDE NAMES hdf5.h PATH_SUFFIXES hdf5/serial)
  if(NOT LFIW_HDF5 OR NOT LFIW_HDF5_INCLUDE)
    lfiw_missing("HDF5 was not found; install libhdf5-dev")
  endif()
  if(NOT TARGET lfiw::hdf5)
    add_library(lfiw::hdf5 UNKNOWN IMPORTED)
    set_target_properties(lfiw::hdf5 PROPERTIES
      IMPORTED_LOCATION "${LFIW_HDF5}"
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_HDF5_INCLUDE}")
  endif()
endmacro()

macro(lfiw_find_package package)
  if("${package}" STREQUAL "OpenBLAS")
    lfiw_find_openblas()
  elseif("${package}" STREQUAL "OneDNN")
    lfiw_find_onednn()
  elseif("${package}" STREQUAL "HDF5")
    lfiw_find_hdf5()
  else()
    if("${package}" STREQUAL "Eigen3")
      find_package(Eigen3 3.4 QUIET NO_MODULE)
    elseif("${package}" STREQUAL "Boost")  # headers only: Math
      find_package(Boost 1.74 QUIET)
    elseif("${package}" STREQUAL "OpenMP")
      find_package(OpenMP QUIET COMPONENTS CXX)
    elseif("${package}" STREQUAL "OpenSSL")
      find_package(OpenSSL QUIET COMPONENTS Crypto)
    else()
      find_package(${package} QUIET)
    endif()
    if(NOT ${package}_FOUND)
      lfiw_missing("lfiw needs the package ${package}, which was not found; \
cmake/debian-packages.txt of its sources lists what Debian calls it")
    endif()
  endif()
endmacro()

# lfiw_find_packages(component...): all packages that these components need.
macro(lfiw_find_packages)
  set(lfiw_packages)
  foreach(lfiw_component ${ARGN})
    list(APPEND lfiw_packages ${LFIW_${lfiw_component}_PACKAGES})
  endforeach()
  list(REMOVE_DUPLICATES lfiw_packages)
  foreach(lfiw_package ${lfiw_packages})
    lfiw_find_package(${lfiw_package})
  endforeach()
endmacro()
