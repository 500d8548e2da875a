#ifndef LFIW_MODELS_TORCHSCRIPT_MODULE_H_
#define LFIW_MODELS_TORCHSCRIPT_MODULE_H_

#include <torch/script.h>

#include <string>
#include <vector>

#include "core/layers.h"

namespace lfiw::models {

// A TorchScript module that was loaded from a file. It runs on the CPU, on one thread per call and
// without gradients. This header brings LibTorch's own: include it in source files only.
//
// TorchScript is code: loading and calling a module runs what its author wrote, so name only files
// that are trusted.
class TorchScriptModule {
 public:
  // Throws DataError naming the file when it cannot be loaded.
  static TorchScriptModule Load(const std::string& path);

  const std::string& path() const { return path_; }
  // What forward returns. Throws DataError "PATH: the module fails on WHAT: ...".
  c10::IValue Call(std::vector<c10::IValue> inputs, const std::string& what) const;
  // Parameters and buffers.
  std::vector<at::Tensor> Tensors() const;
  // Names of attributes that look like the state of a recurrent network.
  std::vector<std::string> StateAttributes() const;

 private:
  std::string path_;
  torch::jit::Module module_;
};

// Copies of tensors, and whether others still equal them.
std::vector<at::Tensor> CopiesOf(const std::vector<at::Tensor>& tensors);
bool AllEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TORCHSCRIPT_MODULE_H_
