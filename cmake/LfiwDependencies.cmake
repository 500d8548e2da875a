# Finds every dependency; nothing is downloaded. The same file serves this build and, installed,
# projects that call find_package(lfiw).

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(TBB REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED)  # headers only: Math
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(libzip REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PNG REQUIRED)
find_package(mujoco REQUIRED)
find_package(Torch REQUIRED)

# LibTorch's package appends its flags to the global ones of whoever finds it; the targets carry
# all that is needed.
find_library(LFIW_OPENBLAS NAMES openblas PATH_SUFFIXES openblas-pthread)
find_path(LFIW_CBLAS_INCLUDE NAMES cblas.h
          PATH_SUFFIXES openblas-pthread x86_64-linux-gnu/openblas-pthread openblas)
if(NOT LFIW_OPENBLAS OR NOT LFIW_CBLAS_INCLUDE)
  message(FATAL_ERROR "OpenBLAS was not found; install libopenblas-dev (reference BLAS is 17-38 "
                      "times slower and is not supported)")
endif()
if(NOT TARGET lfiw::openblas)
  add_library(lfiw::openblas UNKNOWN IMPORTED)
  set_target_properties(lfiw::openblas PROPERTIES
    IMPORTED_LOCATION "${LFIW_OPENBLAS}"
    INTERFACE_INCLUDE_DIRECTORIES "${LFIW_CBLAS_INCLUDE}")
endif()

# CMake's own FindHDF5 compiles C, a language that neither this project nor its users need.
find_library(LFIW_HDF5 NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
find_path(LFIW_HDF5_INCLUDE NAMES hdf5.h PATH_SUFFIXES hdf5/serial)
if(NOT LFIW_HDF5 OR NOT LFIW_HDF5_INCLUDE)
  message(FATAL_ERROR "HDF5 was not found; install libhdf5-dev")
endif()
if(NOT TARGET lfiw::hdf5)
  add_library(lfiw::hdf5 UNKNOWN IMPORTED)
  set_target_properties(lfiw::hdf5 PROPERTIES
    IMPORTED_LOCATION "${LFIW_HDF5}"
    INTERFACE_INCLUDE_DIRECTORIES "${LFIW_HDF5_INCLUDE}")
endif()
