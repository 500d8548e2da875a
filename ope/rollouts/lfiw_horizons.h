#ifndef LFIW_OPE_ROLLOUTS_LFIW_HORIZONS_H_
#define LFIW_OPE_ROLLOUTS_LFIW_HORIZONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// One number from LFIW's estimates at several horizons H, from the rollouts alone. More steps of
// weights leave less of the model's bias, if the classifiers are right, and more variance.

// kSlope: from H = T down, the smallest H whose interval still meets those of all larger ones
// (Su et al. 2020). kMagic: the blend of least estimated squared error, where the bias of H is its
// distance to the interval at H = T (after Thomas and Brunskill 2016). kOpera: the blend of least
// bootstrapped error (after Nie et al. 2024), over repetitions and classifiers; what all horizons
// get wrong alike, or H = 0 always, does not show in it.
enum class HorizonRule { kSlope, kMagic, kOpera };
constexpr auto EnumNames(HorizonRule /*kind*/) {
  return std::to_array<std::string_view>({"slope", "magic", "opera"});
}

struct HorizonRuleOptions {
  HorizonRule rule = HorizonRule::kSlope;
  // Per decision: as right as whole trajectories and of less variance. Nothing asks for k-hat.
  LfiwOptions lfiw{
      .variant = LfiwVariant::kPerDecision, .khat = KhatHorizons::kListed, .khat_horizons = {}};
  std::int64_t candidates = 21;  // horizons, evenly from 0 to T
  double level = 0.95;           // of the intervals
  std::int64_t resamples = 400;
  std::uint64_t seed = 0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("rule", rule, "how horizons are chosen or blended");
    v.Field("lfiw", lfiw, "the estimates");
    v.Field("candidates", candidates, "horizons, evenly from 0 to T", AtLeast(2));
    v.Field("level", level, "of the intervals that rules compare", Between(0.5, 0.999));
    v.Field("resamples", resamples, "bootstraps of opera", AtLeast(40));
    v.Field("seed", seed, "seed of the bootstrap");
  }
};

// The estimate from EstimatorInputs::model_rewards and ::model_log_weights; its spread is that of
// the choice or blend held fixed. A note says what was chosen. Refuses without classifiers, without
// a second repetition or classifier, and where no horizon has support.
Estimate EstimateAcrossHorizons(const EstimatorInputs& inputs, const Estimand& estimand,
                                const HorizonRuleOptions& options);

// Rows "lfiw_slope", "lfiw_magic" and "lfiw_opera".
std::vector<Estimator> HorizonRuleEstimators();

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LFIW_HORIZONS_H_
