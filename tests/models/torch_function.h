#ifndef LFIW_TESTS_MODELS_TORCH_FUNCTION_H_
#define LFIW_TESTS_MODELS_TORCH_FUNCTION_H_

#include <torch/script.h>

#include <string>

#include "core/layers.h"

namespace lfiw::models {

// Saves a TorchScript module with the given body of forward(self, states, actions, next_states),
// a parameter `scale` of 2 and a buffer `calls`, both of `type`.
inline void SaveFunction(const std::string& path, const std::string& body,
                         at::ScalarType type = at::kFloat) {
  torch::jit::Module module("Function");
  module.register_parameter("scale", at::full({1}, 2.0, type), false);
  module.register_buffer("calls", at::zeros({1}, type));
  module.define("def forward(self, states, actions, next_states):\n  " + body + "\n");
  module.save(path);
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_TORCH_FUNCTION_H_
