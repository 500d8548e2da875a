#ifndef LFIW_TESTS_POLICIES_TORCH_MODULE_H_
#define LFIW_TESTS_POLICIES_TORCH_MODULE_H_

#include <torch/script.h>

#include <string>

#include "core/layers.h"

namespace lfiw::policies {

// Saves a TorchScript module with a weight [outputs, inputs] of `type`, a buffer `calls` and the
// given body of forward(self, x). The weight is 0.1, 0.2, ... row by row.
inline void SaveModule(const std::string& path, const std::string& body, std::int64_t inputs,
                       std::int64_t outputs, at::ScalarType type = at::kFloat,
                       const std::string& buffer = "calls") {
  torch::jit::Module module("Policy");
  const at::Tensor weight =
      0.1 * at::arange(1, inputs * outputs + 1, at::kDouble).reshape({outputs, inputs});
  module.register_parameter("weight", weight.to(type), false);
  module.register_buffer(buffer, at::zeros({1}, type));
  module.define("def forward(self, x):\n  " + body + "\n");
  module.save(path);
}

inline constexpr const char* kLinearBody = "return torch.matmul(x, torch.t(self.weight))";

}  // namespace lfiw::policies

#endif  // LFIW_TESTS_POLICIES_TORCH_MODULE_H_
