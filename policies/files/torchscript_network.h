#ifndef LFIW_POLICIES_FILES_TORCHSCRIPT_NETWORK_H_
#define LFIW_POLICIES_FILES_TORCHSCRIPT_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/layers.h"
#include "models/policy_network.h"
#include "policies/files/policy_contract.h"

namespace lfiw::policies {

// A TorchScript module that maps observations [n, inputs] to one tensor [n, outputs], or to the
// pair (mean, log_std). It runs on the CPU, on one thread per call and without gradients.
//
// TorchScript is code: loading and calling a module runs what its author wrote. A module is loaded
// only when its file was named as a policy; name only files that are trusted.
class TorchScriptNetwork final : public PolicyNetwork {
 public:
  // What the module is called with and must return.
  struct Shape {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    NetworkDtype dtype = NetworkDtype::kFloat32;
  };

  ~TorchScriptNetwork() override;

  // Throws PolicyError naming the file when it cannot be loaded, or is a stateful module, known by
  // its attributes (hidden_state, cell_state, ...).
  static std::unique_ptr<TorchScriptNetwork> Load(const std::string& path);

  // Calls the module with a few observations and throws PolicyError unless its weights are of the
  // shape's dtype, its outputs have the shape's sizes, the same input gives the same output again
  // and leaves the module as it was, and a row does not depend on the others of its batch. To be
  // called once, before Forward.
  void Bind(const Shape& shape);

  std::int64_t inputs() const override;
  std::int64_t outputs() const override;
  std::string Description() const override;
  std::int64_t chunk_rows() const override { return 512; }
  void Forward(ConstMatrixRef inputs, MatrixRef outputs) const override;

 private:
  struct Impl;
  explicit TorchScriptNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_TORCHSCRIPT_NETWORK_H_
