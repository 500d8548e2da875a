#include "envs/linear_gaussian_env.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"

namespace lfiw::envs {
namespace {

using ConstVectorMap = Eigen::Map<const VectorD>;

ConstVectorMap AsVector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// A matrix L with L L' = covariance, which may be singular.
MatrixD Root(const MatrixD& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

// What all instances share.
struct Shared {
  LinearGaussianSystem system;
  MatrixD noise_root;
  MatrixD initial_root;
  EnvSpec spec;
};

class LinearGaussianEnv final : public Env {
 public:
  explicit LinearGaussianEnv(std::shared_ptr<const Shared> shared)
      : shared_(std::move(shared)), state_(shared_->system.initial_mean), noise_(NoiseStream()) {}

  const EnvSpec& spec() const override { return shared_->spec; }

  void Reset(Stream& stream, std::span<double> observation) override {
    state_ = shared_->system.initial_mean + shared_->initial_root * Normals(stream);
    // a stream of this episode's own, so that steps need none from the caller
    noise_seed_ = {stream.NextBits(), stream.NextBits()};
    noise_ = NoiseStream();
    std::ranges::copy(state_, observation.begin());
  }

  StepResult Step(std::span<const double> action, std::span<double> observation,
                  std::span<double> /*aux*/) override {
    const LinearGaussianSystem& system = shared_->system;
    const VectorD u = AsVector(action);
    CheckFinite(u, "action");
    const VectorD next = system.state_matrix * state_ + system.action_matrix * u + system.offset +
                         shared_->noise_root * Normals(noise_);
    CheckFinite(next, "state");
    const double reward = LinearGaussianReward(system, state_, u, next);
    state_ = next;
    std::ranges::copy(state_, observation.begin());
    return {.reward = reward, .terminated = false};
  }

  std::vector<double> SaveState() const override {
    std::vector<double> state(state_.begin(), state_.end());
    for (const std::uint32_t word : noise_seed_) state.push_back(word);
    state.push_back(static_cast<double>(noise_.position()));
    return state;
  }

  void LoadState(std::span<const double> state) override {
    const auto dim = static_cast<std::size_t>(state_.size());
    if (state.size() != dim + 3) {
      Throw<DataError>("{}: state has {} values, expected {}", shared_->spec.name, state.size(),
                       dim + 3);
    }
    const auto integer = [&](std::size_t i, double limit) {
      if (!(state[i] >= 0.0 && state[i] < limit)) {
        Throw<DataError>("{}: value {} of the state is {}, expected one in [0, {})",
                         shared_->spec.name, i, state[i], limit);
      }
      return static_cast<std::uint64_t>(state[i]);
    };
    noise_seed_ = {static_cast<std::uint32_t>(integer(dim, 0x1p32)),
                   static_cast<std::uint32_t>(integer(dim + 1, 0x1p32))};
    noise_ = NoiseStream();
    noise_.Seek(integer(dim + 2, 0x1p53));
    state_ = AsVector(state.first(dim));
  }

 private:
  void CheckFinite(const VectorD& values, const char* quantity) const {
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values(i))) {
        Throw<NumericError>("{}: {} {} is {}, expected a finite number", shared_->spec.name,
                            quantity, i, values(i));
      }
    }
  }

  Stream NoiseStream() const {
    const std::uint64_t high = noise_seed_[0];
    return Stream((high << 32) | noise_seed_[1], "linear-Gaussian noise");
  }

  VectorD Normals(Stream& stream) const {
    VectorD z(shared_->system.state_dim());
    for (double& value : z) value = stream.Normal();
    return z;
  }

  std::shared_ptr<const Shared> shared_;
  VectorD state_;
  std::array<std::uint32_t, 2> noise_seed_ = {0, 0};
  Stream noise_;
};

class LinearGaussianTaskRules final : public TaskRules {
 public:
  explicit LinearGaussianTaskRules(std::shared_ptr<const Shared> shared)
      : shared_(std::move(shared)) {}

  void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               ConstMatrixRef /*aux*/, std::span<double> rewards) const override {
    const auto row = [](const ConstMatrixRef& matrix, Eigen::Index i) -> VectorD {
      return matrix.row(i).transpose().cast<double>();
    };
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      rewards[static_cast<std::size_t>(i)] = LinearGaussianReward(
          shared_->system, row(states, i), row(actions, i), row(next_states, i));
    }
  }

  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/,
                  ConstMatrixRef /*next_states*/,
                  std::span<std::uint8_t> terminated) const override {
    std::ranges::fill(terminated, std::uint8_t{0});
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

class LinearGaussianFactory final : public EnvFactory {
 public:
  explicit LinearGaussianFactory(std::shared_ptr<const Shared> shared)
      : shared_(std::move(shared)) {}

  const EnvSpec& spec() const override { return shared_->spec; }
  std::unique_ptr<Env> Make() const override {
    return std::make_unique<LinearGaussianEnv>(shared_);
  }
  std::unique_ptr<TaskRules> MakeTaskRules(RewardSource /*source*/) const override {
    return std::make_unique<LinearGaussianTaskRules>(shared_);
  }

 private:
  std::shared_ptr<const Shared> shared_;
};

}  // namespace

std::shared_ptr<const EnvFactory> MakeLinearGaussianFactory(const LinearGaussianSystem& system) {
  Validate(system);
  EnvSpec spec;
  spec.name = kLinearGaussianName;
  spec.obs_dim = system.state_dim();
  spec.action_dim = system.action_dim();
  spec.action_high =
      VectorD::Constant(system.action_dim(), std::numeric_limits<double>::infinity());
  spec.action_low = -spec.action_high;
  spec.step_seconds = 1.0;
  auto shared =
      std::make_shared<const Shared>(Shared{.system = system,
                                            .noise_root = Root(system.noise_covariance),
                                            .initial_root = Root(system.initial_covariance),
                                            .spec = std::move(spec)});
  return std::make_shared<const LinearGaussianFactory>(std::move(shared));
}

}  // namespace lfiw::envs
