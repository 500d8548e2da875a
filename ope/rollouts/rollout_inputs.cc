#include "ope/rollouts/rollout_inputs.h"

namespace lfiw::ope {
namespace {

// Widened column range of `values`.
void ColumnRange(const MatrixF& values, double margin, VectorF& low, VectorF& high) {
  low = values.colwise().minCoeff().transpose();
  high = values.colwise().maxCoeff().transpose();
  const VectorF slack = static_cast<float>(margin) * (high - low);
  low -= slack;
  high += slack;
}

}  // namespace

ClampRange RangeOfLog(const EpisodeBatch& log, double margin) {
  ClampRange range;
  ColumnRange(log.observations, margin, range.state_low, range.state_high);
  if (log.aux_dim() > 0) ColumnRange(log.aux, margin, range.aux_low, range.aux_high);
  return range;
}

}  // namespace lfiw::ope
