#ifndef LFIW_MODELS_ADAM_H_
#define LFIW_MODELS_ADAM_H_

#include <array>
#include <cstdint>
#include <string>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

enum class WeightDecay { kDecoupled, kL2 };

constexpr auto EnumNames(WeightDecay /*kind*/) {
  return std::to_array<std::string_view>({"decoupled", "l2"});
}

struct AdamOptions {
  double learning_rate = 1e-3;  // the paper's
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // off, as the paper mentions none
  WeightDecay decay_kind = WeightDecay::kDecoupled;
  double clip_norm = 0.0;  // off

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("learning_rate", learning_rate, "Adam step size", Positive());
    v.Field("beta1", beta1, "decay of the gradient mean", Between(0.0, 1.0));
    v.Field("beta2", beta2, "decay of the squared gradient mean", Between(0.0, 1.0));
    v.Field("epsilon", epsilon, "added to the root of the second moment", Positive());
    v.Field("weight_decay", weight_decay, "weight decay factor, 0 for none", AtLeast(0.0));
    v.Field("decay_kind", decay_kind, "decoupled (AdamW) or l2 (added to the gradient)");
    v.Field("clip_norm", clip_norm, "largest global gradient norm, 0 for no clipping",
            AtLeast(0.0));
  }
};

// What epsilon is added to. kCorrected: the root of the second moment after its bias correction, as
// in the paper and in PyTorch. kUncorrected: the root before it, as in TensorFlow, for which
// openai/ baselines chose its epsilon; parameters then come in whole lanes of 16, without weight
// decay.
enum class EpsilonPlacement { kCorrected, kUncorrected };

// All that an Adam carries from one step to the next.
struct AdamState {
  std::int64_t steps = 0;
  VectorF mean;    // first moments
  VectorF square;  // second moments
};

// Adam (Kingma & Ba 2015) over one flat parameter buffer, in a single pass per step.
class Adam {
 public:
  Adam(std::int64_t parameter_count, const AdamOptions& options,
       EpsilonPlacement placement = EpsilonPlacement::kCorrected);

  // One update of `parameters` in place. Returns the global norm of `gradient` before clipping; it
  // is measured only when clip_norm is set, otherwise 0.
  double Step(const VectorF& gradient, VectorF& parameters);

  void set_learning_rate(double rate) { options_.learning_rate = rate; }
  std::int64_t steps() const { return state_.steps; }

  const AdamState& state() const { return state_; }
  // Continues from a state of as many parameters.
  void set_state(AdamState state);

  // Arrays "<prefix>.steps", ".mean", ".square": the moments and nothing of the options. Load
  // throws DataError when the parameter count differs.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);

 private:
  double GradientNorm(const VectorF& gradient) const;
  void StepCorrected(double scale, const VectorF& gradient, VectorF& parameters);
  void StepUncorrected(double scale, const VectorF& gradient, VectorF& parameters);

  AdamOptions options_;
  EpsilonPlacement placement_;
  AdamState state_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_ADAM_H_
