#include "models/adam.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/tiled_product.h"

namespace lfiw::models {
namespace {

// The scalars of one update, fixed before the pass over the parameters.
struct Update {
  float beta1, beta2;
  float gradient_scale;  // clipping
  float l2;              // weight decay added to the gradient
  float decay;           // decoupled weight decay, times the learning rate
  float rate;            // learning rate over the bias correction of the mean
  float square_scale;    // root of the inverse bias correction of the square
  float epsilon;
};

// Plain arrays and one expression per line let the compiler use full vectors.
void Apply(const Update& u, std::int64_t count, const float* __restrict gradient,
           float* __restrict mean, float* __restrict square, float* __restrict parameters) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * u.gradient_scale + u.l2 * parameters[i];
    mean[i] = u.beta1 * mean[i] + (1.0f - u.beta1) * g;
    square[i] = u.beta2 * square[i] + (1.0f - u.beta2) * g * g;
    const float root = std::sqrt(square[i]) * u.square_scale + u.epsilon;
    parameters[i] -= u.decay * parameters[i] + u.rate * mean[i] / root;
  }
}

double Norm(const VectorF& values) {
  double sum = 0.0;
  for (const float x : values) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}

}  // namespace

Adam::Adam(std::int64_t parameter_count, const AdamOptions& options, EpsilonPlacement placement)
    : options_(options),
      placement_(placement),
      state_{0, VectorF::Zero(parameter_count), VectorF::Zero(parameter_count)} {
  LFIW_ASSERT(placement == EpsilonPlacement::kCorrected ||
              (parameter_count % kLane == 0 && options.weight_decay == 0.0));
}

void Adam::set_state(AdamState state) {
  LFIW_ASSERT(state.mean.size() == state_.mean.size());
  LFIW_ASSERT(state.square.size() == state_.square.size());
  state_ = std::move(state);
}

double Adam::GradientNorm(const VectorF& gradient) const {
  return placement_ == EpsilonPlacement::kCorrected ? Norm(gradient)
                                                    : static_cast<double>(gradient.norm());
}

double Adam::Step(const VectorF& gradient, VectorF& parameters) {
  LFIW_ASSERT(gradient.size() == state_.mean.size() && parameters.size() == state_.mean.size());
  ++state_.steps;
  const double norm = options_.clip_norm > 0.0 ? GradientNorm(gradient) : 0.0;
  const double scale = norm > options_.clip_norm ? options_.clip_norm / norm : 1.0;
  if (placement_ == EpsilonPlacement::kCorrected) {
    StepCorrected(scale, gradient, parameters);
  } else {
    StepUncorrected(scale, gradient, parameters);
  }
  return norm;
}

void Adam::StepCorrected(double scale, const VectorF& gradient, VectorF& parameters) {
  const bool decoupled = options_.decay_kind == WeightDecay::kDecoupled;
  const double decay = options_.weight_decay, rate = options_.learning_rate;
  const auto t = static_cast<double>(state_.steps);
  const Update update = {
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .gradient_scale = static_cast<float>(scale),
      .l2 = static_cast<float>(decoupled ? 0.0 : decay),
      .decay = static_cast<float>(decoupled ? rate * decay : 0.0),
      .rate = static_cast<float>(rate / (1.0 - std::pow(options_.beta1, t))),
      .square_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t))),
      .epsilon = static_cast<float>(options_.epsilon)};
  Apply(update, gradient.size(), gradient.data(), state_.mean.data(), state_.square.data(),
        parameters.data());
}

void Adam::StepUncorrected(double scale, const VectorF& gradient, VectorF& parameters) {
  const auto t = static_cast<double>(state_.steps);
  const auto rate =
      static_cast<float>(options_.learning_rate * std::sqrt(1.0 - std::pow(options_.beta2, t)) /
                         (1.0 - std::pow(options_.beta1, t)));
  const auto beta1 = static_cast<float>(options_.beta1), beta2 = static_cast<float>(options_.beta2);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto gradient_scale = static_cast<float>(scale);
  // lane by lane, so that each buffer is read and written once
  using Lane = Eigen::Array<float, kLane, 1>;
  using LaneMap = Eigen::Map<Lane, Eigen::Aligned64>;
  using ConstLaneMap = Eigen::Map<const Lane, Eigen::Aligned64>;
  for (Eigen::Index i = 0; i < gradient.size(); i += kLane) {
    const Lane g = gradient_scale * ConstLaneMap(gradient.data() + i);
    LaneMap mean(state_.mean.data() + i), square(state_.square.data() + i);
    mean = beta1 * mean + (1.0f - beta1) * g;
    square = beta2 * square + (1.0f - beta2) * g.square();
    LaneMap(parameters.data() + i) -= rate * mean / (square.sqrt() + epsilon);
  }
}

void Adam::Save(const std::string& prefix, NpzFile& file) const {
  file.Put(prefix + ".steps", std::vector<std::int64_t>{state_.steps});
  file.Put(prefix + ".mean", state_.mean);
  file.Put(prefix + ".square", state_.square);
}

void Adam::Load(const NpzFile& file, const std::string& prefix) {
  const auto steps = file.GetIntegers(prefix + ".steps");
  VectorF mean = file.GetVector(prefix + ".mean");
  VectorF square = file.GetVector(prefix + ".square");
  if (steps.size() != 1 || mean.size() != state_.mean.size() ||
      square.size() != state_.square.size()) {
    Throw<DataError>("optimizer state {} is of {} parameters, expected {}", prefix, mean.size(),
                     state_.mean.size());
  }
  state_ = {steps[0], std::move(mean), std::move(square)};
}

}  // namespace lfiw::models
