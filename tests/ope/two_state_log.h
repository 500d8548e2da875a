#ifndef LFIW_TESTS_OPE_TWO_STATE_LOG_H_
#define LFIW_TESTS_OPE_TWO_STATE_LOG_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/statistics.h"
#include "ope/fits/fourier_features.h"
#include "policies/policy.h"

namespace lfiw::ope {

// A system of two states and two actions over three steps, whose log can be written down in full:
// all probabilities are quarters, so that 2 * 8^3 equally weighted episodes have exactly the
// uniform behavior policy's distribution and every mean over them is an expectation.
class TwoStates {
 public:
  static constexpr std::int64_t kHorizon = 3;
  static constexpr std::int64_t kEpisodes = 2 * 8 * 8 * 8;
  using Table = std::array<std::array<double, 2>, 2>;  // [s][a]

  // Probability of action 1 under the evaluation policy in each state.
  explicit TwoStates(std::array<double, 2> evaluation) : evaluation_(evaluation) {}

  static double Reward(int s, int a, int next) {
    return 1.0 * s + 0.5 * a + 2.0 * next * (1 - a) - 0.3;
  }
  static double Transition(int s, int a, int next) {
    constexpr std::array<std::array<int, 2>, 2> kQuarters = {{{1, 2}, {3, 2}}};
    const double one = 0.25 * kQuarters[At(s)][At(a)];
    return next == 1 ? one : 1.0 - one;
  }
  double Evaluation(int s, int a) const {
    return a == 1 ? evaluation_[At(s)] : 1.0 - evaluation_[At(s)];
  }

  // Q with `left` steps to go, by dynamic programming.
  Table Q(std::int64_t left, double discount) const {
    Table q{};
    for (; left > 0; --left) q = LookAhead(q, discount);
    return q;
  }

  // Distribution of (s, a) at step t under the evaluation policy, from a uniform first state.
  Table Visitation(std::int64_t t) const {
    return Visits(t, [this](int s, int a) { return Evaluation(s, a); });
  }
  static Table LoggedVisitation(std::int64_t t) {
    return Visits(t, [](int, int) { return 0.5; });
  }

  double Value(std::int64_t horizon, double discount) const {
    const Table q = Q(horizon, discount);
    double value = 0.0;
    for (const int s : {0, 1}) {
      for (const int a : {0, 1}) value += 0.5 * Evaluation(s, a) * q[At(s)][At(a)];
    }
    return value;
  }

  // Every episode once. Observations and actions are the indices of states and actions.
  static EpisodeBatch Log() {
    EpisodeBatch log;
    log.observations.resize(kEpisodes * (kHorizon + 1), 1);
    log.actions.resize(kEpisodes * kHorizon, 1);
    log.aux.resize(kEpisodes * kHorizon, 0);
    for (std::int64_t e = 0; e < kEpisodes; ++e) {
      std::int64_t digits = e / 2;
      int s = static_cast<int>(e % 2);
      for (std::int64_t t = 0; t < kHorizon; ++t, digits /= 8) {
        const int a = static_cast<int>(digits % 2);
        const auto quarter = static_cast<double>(digits / 2 % 4);
        const int next = quarter < 4.0 * Transition(s, a, 1) ? 1 : 0;
        log.observations(e * (kHorizon + 1) + t, 0) = static_cast<float>(s);
        log.actions(e * kHorizon + t, 0) = static_cast<float>(a);
        log.rewards.push_back(Reward(s, a, next));
        s = next;
      }
      log.observations(e * (kHorizon + 1) + kHorizon, 0) = static_cast<float>(s);
      log.offsets.push_back((e + 1) * kHorizon);
      log.terminated.push_back(0);
    }
    return log;
  }

 private:
  static std::size_t At(int index) { return static_cast<std::size_t>(index); }

  Table LookAhead(const Table& after, double discount) const {
    Table q{};
    for (const int s : {0, 1}) {
      for (const int a : {0, 1}) {
        for (const int next : {0, 1}) {
          const double v =
              Evaluation(next, 0) * after[At(next)][0] + Evaluation(next, 1) * after[At(next)][1];
          q[At(s)][At(a)] += Transition(s, a, next) * (Reward(s, a, next) + discount * v);
        }
      }
    }
    return q;
  }

  template <class Probability>
  static Table Visits(std::int64_t t, const Probability& policy) {
    std::array<double, 2> d = {0.5, 0.5};
    for (; t > 0; --t) {
      std::array<double, 2> after{};
      for (const int s : {0, 1}) {
        for (const int a : {0, 1}) {
          for (const int next : {0, 1}) {
            after[At(next)] += d[At(s)] * policy(s, a) * Transition(s, a, next);
          }
        }
      }
      d = after;
    }
    Table out{};
    for (const int s : {0, 1}) {
      for (const int a : {0, 1}) out[At(s)][At(a)] = d[At(s)] * policy(s, a);
    }
    return out;
  }

  std::array<double, 2> evaluation_;
};

// Action 1 with a probability for each of two states, 0 otherwise.
class TwoStatePolicy final : public Policy {
 public:
  explicit TwoStatePolicy(std::array<double, 2> probability) : probability_(probability) {}

  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t noise_dim() const override { return 1; }
  std::string Description() const override { return "two states"; }
  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
              ConstMatrixRef noise, MatrixRef actions) const override {
    for (Eigen::Index i = 0; i < observations.rows(); ++i) {
      const double uniform = NormalCdf(static_cast<double>(noise(i, 0)));
      actions(i, 0) = uniform < probability_[observations(i, 0) > 0.5f ? 1 : 0] ? 1.0f : 0.0f;
    }
  }
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
            MatrixRef actions) const override {
    for (Eigen::Index i = 0; i < observations.rows(); ++i) {
      actions(i, 0) = probability_[observations(i, 0) > 0.5f ? 1 : 0] > 0.5 ? 1.0f : 0.0f;
    }
  }
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
                  ConstMatrixRef /*executed*/, const VectorD& /*low*/, const VectorD& /*high*/,
                  std::span<double> /*log_density*/) const override {}

 private:
  std::array<double, 2> probability_;
};

// One feature for each state, action and step.
class TwoStateFeatures final : public FeatureMap {
 public:
  explicit TwoStateFeatures(std::int64_t steps) : steps_(steps) {}
  std::int64_t size() const override { return 4 * steps_; }
  void Apply(ConstMatrixRef pairs, std::span<const std::int64_t> steps,
             MatrixRef features) const override {
    features.setZero();
    for (Eigen::Index i = 0; i < pairs.rows(); ++i) {
      const std::int64_t s = pairs(i, 0) > 0.5f ? 1 : 0, a = pairs(i, 1) > 0.5f ? 1 : 0;
      features(i, 4 * steps[static_cast<std::size_t>(i)] + 2 * s + a) = 1.0f;
    }
  }

 private:
  std::int64_t steps_;
};

}  // namespace lfiw::ope

#endif  // LFIW_TESTS_OPE_TWO_STATE_LOG_H_
