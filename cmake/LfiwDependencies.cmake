# What each component of lfiw needs: other components (NEEDS) and packages, all of which the system
# provides; nothing is downloaded. The same file serves this build and, installed, projects that
# call find_package(lfiw COMPONENTS ...), so that who wants one component needs no package of
# another.
set(LFIW_core_PACKAGES Threads OpenMP OneDNN TBB Eigen3 Boost yaml-cpp fmt nlohmann_json libzip
  OpenSSL OpenBLAS HDF5 zstd)
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

# lfiw_find_plain(TARGET LIBRARIES HEADER FOLDERS MISSING): lfiw::TARGET from a library and its header,
# looked for in these folders too, without a package file of its own: OpenBLAS and zstd have none
# everywhere, CMake's own FindHDF5 compiles C, a language that neither this project nor its users
# need, and oneDNN's asks for OpenCL, which is not used here.
macro(lfiw_find_plain target libraries header folders missing)
  string(TOUPPER ${target} lfiw_name)
  find_library(LFIW_${lfiw_name} NAMES ${libraries} PATH_SUFFIXES ${folders})
  find_path(LFIW_${lfiw_name}_INCLUDE NAMES ${header} PATH_SUFFIXES ${folders})
  if(NOT LFIW_${lfiw_name} OR NOT LFIW_${lfiw_name}_INCLUDE)
    lfiw_missing("${missing}")
  endif()
  if(NOT TARGET lfiw::${target})
    add_library(lfiw::${target} UNKNOWN IMPORTED)
    set_target_properties(lfiw::${target} PROPERTIES
      IMPORTED_LOCATION "${LFIW_${lfiw_name}}"
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_${lfiw_name}_INCLUDE}")
  endif()
endmacro()

include(${CMAKE_CURRENT_LIST_DIR}/LfiwWheels.cmake)

macro(lfiw_find_package package)
  if(LFIW_WHEELS AND "${package}" STREQUAL "mujoco")
    lfiw_find_mujoco_wheel()
  elseif(LFIW_WHEELS AND "${package}" STREQUAL "Torch")
    lfiw_find_torch_wheel()
  elseif(LFIW_WHEELS AND "${package}" STREQUAL "OneDNN")
    lfiw_find_onednn_apart()
  elseif("${package}" STREQUAL "OpenBLAS")
    lfiw_find_plain(openblas openblas cblas.h
      "openblas-pthread;x86_64-linux-gnu/openblas-pthread;openblas"
      "OpenBLAS was not found; install libopenblas-dev (reference BLAS is 17-38 times slower and is \
not supported)")
  elseif("${package}" STREQUAL "OneDNN")
    lfiw_find_plain(onednn dnnl oneapi/dnnl/dnnl.h ""
      "oneDNN was not found; install libdnnl-dev")
  elseif("${package}" STREQUAL "zstd")
    lfiw_find_plain(zstd zstd zstd.h ""
      "zstd was not found; install libzstd-dev")
  elseif("${package}" STREQUAL "HDF5")
    lfiw_find_plain(hdf5 "hdf5_serial;hdf5" hdf5.h hdf5/serial
      "HDF5 was not found; install libhdf5-dev")
  else()
    if("${package}" STREQUAL "Eigen3")
      find_package(Eigen3 3.4 QUIET NO_MODULE)
    elseif("${package}" STREQUAL "Boost")  # headers of Math and CRC, the library of Iostreams
      find_package(Boost 1.74 QUIET COMPONENTS iostreams)
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
