# MuJoCo and LibTorch from the Python packages `mujoco` and `torch` instead of the system's: LFIW_WHEELS
# names the folder that holds both (site-packages of a virtual environment; cmake/wheels.sh makes one).
# Both packages carry headers and libraries; neither has a package file of CMake that works without
# CUDA's toolkit.

# lfiw_find_mujoco_wheel(): mujoco::mujoco.
macro(lfiw_find_mujoco_wheel)
  file(GLOB lfiw_mujoco_library "${LFIW_WHEELS}/mujoco/libmujoco.so.*")
  if(NOT EXISTS "${LFIW_WHEELS}/mujoco/include/mujoco/mujoco.h" OR NOT lfiw_mujoco_library)
    lfiw_missing("LFIW_WHEELS: ${LFIW_WHEELS}/mujoco has no headers and library of MuJoCo; \
install PyPI's mujoco 2.3 to 3.x there (cmake/wheels.sh does)")
  endif()
  if(NOT TARGET mujoco::mujoco)
    add_library(mujoco::mujoco SHARED IMPORTED)
    set_target_properties(mujoco::mujoco PROPERTIES
      IMPORTED_LOCATION "${lfiw_mujoco_library}"
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_WHEELS}/mujoco/include")
  endif()
endmacro()

# lfiw_find_onednn_apart(): lfiw::onednn without its library, which core/onednn_apart.cc loads.
macro(lfiw_find_onednn_apart)
  find_library(LFIW_ONEDNN NAMES dnnl)
  find_path(LFIW_ONEDNN_INCLUDE NAMES oneapi/dnnl/dnnl.h)
  if(NOT LFIW_ONEDNN OR NOT LFIW_ONEDNN_INCLUDE)
    lfiw_missing("oneDNN was not found; install libdnnl-dev")
  endif()
  if(NOT TARGET lfiw::onednn)
    add_library(lfiw::onednn INTERFACE IMPORTED)
    set_target_properties(lfiw::onednn PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${LFIW_ONEDNN_INCLUDE}"
      INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
  endif()
endmacro()

# lfiw_check_torch_abi(): stops where the package has the string ABI from before GCC 5.
macro(lfiw_check_torch_abi)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES torch)
  set(CMAKE_REQUIRED_FLAGS "-std=c++20")
  check_cxx_source_compiles("#include <c10/util/Exception.h>
    int main() { return c10::Error(c10::SourceLocation(), std::string()).msg().size() == 1; }"
    LFIW_TORCH_ABI)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT LFIW_TORCH_ABI)
    lfiw_missing("LFIW_WHEELS: a program does not link with ${LFIW_WHEELS}/torch; PyPI's torch below \
2.7 has the C++ string ABI from before GCC 5, and later ones need nvidia-cuda-runtime and \
nvidia-cuda-cupti beside them (cmake/wheels.sh installs all three)")
  endif()
endmacro()

# lfiw_find_torch_wheel(): torch.
macro(lfiw_find_torch_wheel)
  if(NOT EXISTS "${LFIW_WHEELS}/torch/lib/libtorch_cpu.so")
    lfiw_missing("LFIW_WHEELS: ${LFIW_WHEELS}/torch has no LibTorch; install PyPI's torch 2.7 or later \
there (cmake/wheels.sh does)")
  endif()
  # beside its own headers the package has those of other libraries, of other versions than the
  # system's
  set(lfiw_torch_headers "${CMAKE_BINARY_DIR}/torch_headers")
  file(MAKE_DIRECTORY "${lfiw_torch_headers}")
  foreach(lfiw_folder ATen c10 caffe2 torch)
    file(CREATE_LINK "${LFIW_WHEELS}/torch/include/${lfiw_folder}"
      "${lfiw_torch_headers}/${lfiw_folder}" SYMBOLIC)
  endforeach()
  if(NOT TARGET torch)
    foreach(lfiw_part c10 torch_cpu)
      add_library(lfiw::${lfiw_part} SHARED IMPORTED)
      set_target_properties(lfiw::${lfiw_part} PROPERTIES
        IMPORTED_LOCATION "${LFIW_WHEELS}/torch/lib/lib${lfiw_part}.so")
    endforeach()
    add_library(torch INTERFACE IMPORTED)
    set_target_properties(torch PROPERTIES
      INTERFACE_COMPILE_OPTIONS "-D_GLIBCXX_USE_CXX11_ABI=1"
      INTERFACE_INCLUDE_DIRECTORIES
        "${lfiw_torch_headers};${lfiw_torch_headers}/torch/csrc/api/include"
      INTERFACE_LINK_LIBRARIES "lfiw::torch_cpu;lfiw::c10")
  endif()
  lfiw_check_torch_abi()
endmacro()
