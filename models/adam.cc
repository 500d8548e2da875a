#include "models/adam.h"

#include <cmath>

#include "core/error.h"

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

Adam::Adam(std::int64_t parameter_count, const AdamOptions& options)
    : options_(options),
      mean_(VectorF::Zero(parameter_count)),
      square_(VectorF::Zero(parameter_count)) {}

double Adam::Step(const VectorF& gradient, VectorF& parameters) {
  LFIW_ASSERT(gradient.size() == mean_.size() && parameters.size() == mean_.size());
  ++steps_;
  const double norm = options_.clip_norm > 0.0 ? Norm(gradient) : 0.0;
  const double scale = norm > options_.clip_norm ? options_.clip_norm / norm : 1.0;
  const bool decoupled = options_.decay_kind == WeightDecay::kDecoupled;
  const double decay = options_.weight_decay, rate = options_.learning_rate;
  const auto t = static_cast<double>(steps_);
  const Update update = {
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .gradient_scale = static_cast<float>(scale),
      .l2 = static_cast<float>(decoupled ? 0.0 : decay),
      .decay = static_cast<float>(decoupled ? rate * decay : 0.0),
      .rate = static_cast<float>(rate / (1.0 - std::pow(options_.beta1, t))),
      .square_scale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t))),
      .epsilon = static_cast<float>(options_.epsilon)};
  Apply(update, mean_.size(), gradient.data(), mean_.data(), square_.data(), parameters.data());
  return norm;
}

void Adam::Save(const std::string& prefix, NpzFile& file) const {
  file.Put(prefix + ".steps", std::vector<std::int64_t>{steps_});
  file.Put(prefix + ".mean", mean_);
  file.Put(prefix + ".square", square_);
}

void Adam::Load(const NpzFile& file, const std::string& prefix) {
  const auto steps = file.GetIntegers(prefix + ".steps");
  VectorF mean = file.GetVector(prefix + ".mean");
  VectorF square = file.GetVector(prefix + ".square");
  if (steps.size() != 1 || mean.size() != mean_.size() || square.size() != square_.size()) {
    Throw<DataError>("optimizer state {} is of {} parameters, expected {}", prefix, mean.size(),
                     mean_.size());
  }
  steps_ = steps[0];
  mean_ = std::move(mean);
  square_ = std::move(square);
}

}  // namespace lfiw::models
