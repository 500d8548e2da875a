#include "policies/ppo/ppo_learner.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "models/tiled_product.h"

namespace lfiw::policies {
namespace {

constexpr float kHalfLogTwoPiFloat = 0.918938533f;

TanhMlp MakeMlp(std::int64_t inputs, const std::vector<std::int64_t>& hidden,
                std::int64_t outputs) {
  std::vector<std::int64_t> sizes = {inputs};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(outputs);
  return TanhMlp(sizes);
}

}  // namespace

PpoRollout::PpoRollout(std::int64_t steps, std::int64_t obs_dim, std::int64_t action_dim)
    : observations(MatrixF::Zero(steps + 1, obs_dim)),
      actions(MatrixF::Zero(steps, action_dim)),
      log_density(static_cast<std::size_t>(steps)),
      rewards(static_cast<std::size_t>(steps)),
      values(static_cast<std::size_t>(steps + 1)),
      ended(static_cast<std::size_t>(steps)),
      advantages(static_cast<std::size_t>(steps)) {}

PpoLearner::PpoLearner(std::int64_t obs_dim, std::int64_t action_dim, const PpoOptions& options,
                       std::uint64_t seed)
    : options_(options),
      actor_(MakeMlp(obs_dim, options.hidden, action_dim)),
      critic_(MakeMlp(obs_dim, options.hidden, 1)),
      log_std_offset_(actor_.parameter_count()),
      critic_offset_(log_std_offset_ + PadToLane(action_dim)),
      parameters_(VectorF::Zero(critic_offset_ + critic_.parameter_count())),
      gradient_(VectorF::Zero(parameters_.size())),
      adam_(parameters_.size(),
            {.epsilon = options.adam_epsilon, .clip_norm = options.max_gradient_norm},
            EpsilonPlacement::kUncorrected),
      actor_workspace_(actor_, options.rollout_steps / options.minibatches),
      critic_workspace_(critic_, options.rollout_steps / options.minibatches),
      observations_(options.rollout_steps / options.minibatches, obs_dim),
      advantages_(options.rollout_steps / options.minibatches),
      inverse_std_(action_dim) {
  actor_.Initialize(Stream(seed, "ppo/actor weights"), std::numbers::sqrt2, 0.01,
                    parameters_.data());
  critic_.Initialize(Stream(seed, "ppo/critic weights"), std::numbers::sqrt2, 1.0,
                     parameters_.data() + critic_offset_);
}

std::span<float> PpoLearner::log_std() {
  return {parameters_.data() + log_std_offset_, static_cast<std::size_t>(actor_.outputs())};
}

void PpoLearner::UpdateInverseStd() {
  const auto log_std = parameters_.segment(log_std_offset_, actor_.outputs());
  inverse_std_ = (-log_std.array()).exp();
}

float PpoLearner::LogDensity(const float* action, const float* mean) const {
  const float* log_std = parameters_.data() + log_std_offset_;
  float sum = 0.0f;
  for (std::int64_t j = 0; j < actor_.outputs(); ++j) {
    const float z = (action[j] - mean[j]) * inverse_std_[j];
    sum -= 0.5f * z * z + log_std[j] + kHalfLogTwoPiFloat;
  }
  return sum;
}

float PpoLearner::Act(const float* observation, const float* noise, float* action) {
  UpdateInverseStd();
  actor_.Forward(parameters_.data(), 1, observation, actor_.inputs(), actor_workspace_);
  const float* mean = actor_workspace_.activations.back().data();
  for (std::int64_t j = 0; j < actor_.outputs(); ++j) {
    action[j] = mean[j] + noise[j] / inverse_std_[j];
  }
  return LogDensity(action, mean);
}

void PpoLearner::Values(const MatrixF& observations, std::span<float> values) {
  const std::int64_t chunk = observations_.rows();
  for (std::int64_t begin = 0; begin < observations.rows(); begin += chunk) {
    const std::int64_t rows = std::min(chunk, observations.rows() - begin);
    critic_.Forward(parameters_.data() + critic_offset_, rows, observations.row(begin).data(),
                    critic_.inputs(), critic_workspace_);
    for (std::int64_t i = 0; i < rows; ++i) {
      values[static_cast<std::size_t>(begin + i)] =
          critic_workspace_.activations.back()[i * critic_.output_width()];
    }
  }
}

PpoLosses PpoLearner::ComputeGradient(const PpoRollout& rollout,
                                      std::span<const std::int64_t> rows) {
  LFIW_ASSERT(static_cast<std::int64_t>(rows.size()) == observations_.rows());
  Gather(rollout, rows);
  PpoLosses losses;
  PolicyGradient(rollout, rows, losses);
  ValueGradient(rollout, rows, losses);
  return losses;
}

void PpoLearner::Gather(const PpoRollout& rollout, std::span<const std::int64_t> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    observations_.row(row) = rollout.observations.row(rows[i]);
    advantages_[row] = rollout.advantages[static_cast<std::size_t>(rows[i])];
  }
  advantages_.array() -= advantages_.mean();
  const float deviation = std::sqrt(advantages_.squaredNorm() / static_cast<float>(rows.size()));
  advantages_ /= deviation + 1e-8f;
}

void PpoLearner::PolicyGradient(const PpoRollout& rollout, std::span<const std::int64_t> rows,
                                PpoLosses& losses) {
  const std::int64_t outputs = actor_.outputs(), width = actor_.output_width();
  const auto count = static_cast<float>(rows.size());
  const auto clip = static_cast<float>(options_.clip_range);
  const std::span<const float> log_stds = log_std();
  VectorF::SegmentReturnType log_std_gradient =
      gradient_.segment(log_std_offset_, PadToLane(outputs));
  log_std_gradient.setZero();
  UpdateInverseStd();
  actor_.Forward(parameters_.data(), observations_.rows(), observations_.data(), actor_.inputs(),
                 actor_workspace_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const float* action = rollout.actions.row(rows[i]).data();
    const float* mean =
        actor_workspace_.activations.back().data() + static_cast<std::int64_t>(i) * width;
    const float change = LogDensity(action, mean) - rollout.log_density[row];
    const float ratio = std::exp(change);
    const float advantage = advantages_[static_cast<Eigen::Index>(i)];
    const float plain = -advantage * ratio;
    const float clipped = -advantage * std::clamp(ratio, 1.0f - clip, 1.0f + clip);
    losses.policy += static_cast<double>(std::max(plain, clipped) / count);
    losses.approx_kl += static_cast<double>(0.5f * change * change / count);
    losses.clip_fraction += std::abs(ratio - 1.0f) > clip ? 1.0 / static_cast<double>(count) : 0.0;

    // d loss / d log-density, then by mean and log_std
    const float slope = plain >= clipped ? plain / count : 0.0f;
    float* delta = actor_workspace_.deltas.back().data() + static_cast<std::int64_t>(i) * width;
    for (std::int64_t j = 0; j < outputs; ++j) {
      const float z = (action[j] - mean[j]) * inverse_std_[j];
      delta[j] = slope * z * inverse_std_[j];
      log_std_gradient[j] += slope * (z * z - 1.0f);
    }
  }
  for (std::int64_t j = 0; j < outputs; ++j) {
    log_std_gradient[j] -= static_cast<float>(options_.entropy_coefficient);
    losses.entropy +=
        static_cast<double>(log_stds[static_cast<std::size_t>(j)] + kHalfLogTwoPiFloat + 0.5f);
  }
  actor_.Backward(parameters_.data(), observations_.rows(), observations_.data(), actor_.inputs(),
                  actor_workspace_, gradient_.data());
}

void PpoLearner::ValueGradient(const PpoRollout& rollout, std::span<const std::int64_t> rows,
                               PpoLosses& losses) {
  const std::int64_t width = critic_.output_width();
  const auto count = static_cast<float>(rows.size());
  const auto clip = static_cast<float>(options_.clip_range);
  const float* parameters = parameters_.data() + critic_offset_;
  critic_.Forward(parameters, observations_.rows(), observations_.data(), critic_.inputs(),
                  critic_workspace_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const std::int64_t at = static_cast<std::int64_t>(i) * width;
    const float value = critic_workspace_.activations.back()[at];
    const float old_value = rollout.values[row];
    const float target = rollout.advantages[row] + old_value;
    const float change = value - old_value;
    const float plain = value - target;
    const float clipped = old_value + std::clamp(change, -clip, clip) - target;
    losses.value += static_cast<double>(0.5f * std::max(plain * plain, clipped * clipped) / count);
    float slope = plain;
    if (clipped * clipped > plain * plain) slope = std::abs(change) < clip ? clipped : 0.0f;
    critic_workspace_.deltas.back()[at] =
        static_cast<float>(options_.value_coefficient) * slope / count;
  }
  critic_.Backward(parameters, observations_.rows(), observations_.data(), critic_.inputs(),
                   critic_workspace_, gradient_.data() + critic_offset_);
}

void PpoLearner::Step(double learning_rate) {
  adam_.set_learning_rate(learning_rate);
  adam_.Step(gradient_, parameters_);
}

void PpoLearner::set_state(const State& state) {
  LFIW_ASSERT(state.parameters.size() == parameters_.size());
  parameters_ = state.parameters;
  adam_.set_state(state.optimizer);
}

}  // namespace lfiw::policies
