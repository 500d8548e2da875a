#ifndef LFIW_MODELS_TORCHSCRIPT_FUNCTION_H_
#define LFIW_MODELS_TORCHSCRIPT_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/layers.h"
#include "models/scalar_of_transition.h"

namespace lfiw::models {

// A TorchScript module whose forward(states [n, obs_dim], actions [n, action_dim], next_states
// [n, obs_dim]) returns one number per row, [n] or [n, 1], in the floating type of its weights
// (float32 for a module without any). TorchScript is code: name only files that are trusted.
class TorchScriptFunction final : public ScalarOfTransition {
 public:
  // Rows of one call of the module, which bounds the memory that it takes.
  static constexpr std::int64_t kChunkRows = 4096;

  ~TorchScriptFunction() override;

  // Calls the module with a few rows. Throws DataError naming the file when it cannot be loaded,
  // fails on these sizes, returns anything but one number per row, answers differently when asked
  // twice, or mixes the rows of a batch.
  static std::unique_ptr<TorchScriptFunction> Load(const std::string& path, std::int64_t obs_dim,
                                                   std::int64_t action_dim);

  // Throws NumericError naming the file where the module's answer is not finite.
  void Predict(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               std::span<double> values) const override;

 private:
  struct Impl;
  explicit TorchScriptFunction(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TORCHSCRIPT_FUNCTION_H_
