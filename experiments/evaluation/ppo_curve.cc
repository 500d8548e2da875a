#include "experiments/evaluation/ppo_curve.h"

namespace lfiw::experiments {

const CsvColumns<PpoPoint>& PpoCurveColumns() {
  static const CsvColumns<PpoPoint> columns = {
      {"steps", "steps", "environment steps so far", &PpoPoint::steps},
      {"mean_return", "return", "mean over the last 100 finished episodes, undiscounted",
       &PpoPoint::mean_return},
      {"mean_length", "steps", "mean length of the same episodes", &PpoPoint::mean_length},
      {"policy_loss", "", "clipped surrogate loss, mean over the minibatches of the update",
       &PpoPoint::policy_loss},
      {"value_loss", "", "loss of the value function, mean over the minibatches",
       &PpoPoint::value_loss},
      {"entropy", "nats", "entropy of the policy, mean over the minibatches", &PpoPoint::entropy},
      {"approx_kl", "nats", "approximate divergence of the old policy from the new one",
       &PpoPoint::approx_kl},
      {"clip_fraction", "", "share of the samples whose ratio was clipped",
       &PpoPoint::clip_fraction}};
  return columns;
}

}  // namespace lfiw::experiments
