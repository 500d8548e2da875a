// Part of builds with PyPI's torch alone. That package has a oneDNN of its own inside, of another
// version, and exports templates of the standard library that both instantiate, among them what
// std::call_once is to call. The loader then hands the system's oneDNN those of the package, and it
// refuses every product. So here it is not linked: it is loaded apart, such that it asks itself
// first, and its functions are jumps into it.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#ifndef LFIW_ONEDNN_FILE
#define LFIW_ONEDNN_FILE "libdnnl.so.2"
#endif

#ifndef __x86_64__
#error "builds with PyPI's torch are for x86-64: this file has its instructions"
#endif

// The functions that the project calls; the linker names one that is missing here.
#define LFIW_ONEDNN_FUNCTIONS(X)          \
  X(dnnl_engine_create)                   \
  X(dnnl_engine_destroy)                  \
  X(dnnl_get_effective_cpu_isa)           \
  X(dnnl_matmul_desc_init)                \
  X(dnnl_memory_create)                   \
  X(dnnl_memory_desc_init_by_strides)     \
  X(dnnl_memory_destroy)                  \
  X(dnnl_memory_get_engine)               \
  X(dnnl_memory_get_memory_desc)          \
  X(dnnl_memory_set_data_handle_v2)       \
  X(dnnl_post_ops_append_sum)             \
  X(dnnl_post_ops_create)                 \
  X(dnnl_post_ops_destroy)                \
  X(dnnl_primitive_attr_create)           \
  X(dnnl_primitive_attr_destroy)          \
  X(dnnl_primitive_attr_set_post_ops)     \
  X(dnnl_primitive_create)                \
  X(dnnl_primitive_desc_destroy)          \
  X(dnnl_primitive_desc_iterator_create)  \
  X(dnnl_primitive_desc_iterator_destroy) \
  X(dnnl_primitive_desc_iterator_fetch)   \
  X(dnnl_primitive_destroy)               \
  X(dnnl_primitive_execute)               \
  X(dnnl_reorder_primitive_desc_create)   \
  X(dnnl_sgemm)                           \
  X(dnnl_stream_create)                   \
  X(dnnl_stream_destroy)                  \
  X(dnnl_version)

// The address of each function, and the function itself as a jump to it.
#define LFIW_JUMP(name)                                                     \
  extern "C" {                                                              \
  __attribute__((visibility("hidden"))) void* lfiw_onednn_##name = nullptr; \
  }                                                                         \
  asm(".pushsection .text\n"                                                \
      ".globl " #name                                                       \
      "\n"                                                                  \
      ".type " #name ", @function\n" #name                                  \
      ":\n"                                                                 \
      "  endbr64\n"                                                         \
      "  jmp *lfiw_onednn_" #name                                           \
      "(%rip)\n"                                                            \
      ".popsection\n");
LFIW_ONEDNN_FUNCTIONS(LFIW_JUMP)

namespace {

void* OneDnn() {
  void* library = dlopen(LFIW_ONEDNN_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    std::fprintf(stderr, "lfiw: %s\n", dlerror());
    std::_Exit(1);
  }
  return library;
}

// Before all static objects, which may multiply.
__attribute__((constructor(101))) void LoadOneDnn() {
  void* library = OneDnn();
#define LFIW_FIND(name) lfiw_onednn_##name = dlsym(library, #name);
  LFIW_ONEDNN_FUNCTIONS(LFIW_FIND)
}

}  // namespace
