#include "policies/mean_policy.h"

#include <utility>

#include "core/error.h"

namespace lfiw::policies {

MeanPolicy::MeanPolicy(std::shared_ptr<const Policy> policy) : policy_(std::move(policy)) {}

std::string MeanPolicy::Description() const { return "mean action of " + policy_->Description(); }

void MeanPolicy::Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                        ConstMatrixRef /*noise*/, MatrixRef actions) const {
  policy_->Mean(observations, steps, actions);
}

void MeanPolicy::Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                      MatrixRef actions) const {
  policy_->Mean(observations, steps, actions);
}

void MeanPolicy::LogDensity(ConstMatrixRef /*observations*/,
                            std::span<const std::int64_t> /*steps*/, ConstMatrixRef /*executed*/,
                            const VectorD& /*low*/, const VectorD& /*high*/,
                            std::span<double> /*log_density*/) const {
  Throw<PolicyError>("{}: has no density: {}", Description(), DensityRefusal());
}

}  // namespace lfiw::policies
