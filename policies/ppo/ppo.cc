#include "policies/ppo/ppo.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "policies/ppo/gae.h"
#include "policies/ppo/ppo_learner.h"
#include "policies/ppo/ppo_state.h"
#include "policies/ppo/running_moments.h"

namespace lfiw::policies {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// episodes that the learning curve averages over
constexpr std::size_t kRecent = 100;

void PushRecent(double value, std::vector<double>& recent) {
  if (recent.size() == kRecent) recent.erase(recent.begin());
  recent.push_back(value);
}

double MeanOrZero(const std::vector<double>& values) { return values.empty() ? 0.0 : Mean(values); }

void CheckOptions(const PpoOptions& options) {
  if (options.rollout_steps % options.minibatches != 0) {
    Throw<ConfigError>("ppo: rollout_steps is {}, expected a multiple of minibatches ({})",
                       options.rollout_steps, options.minibatches);
  }
  if (options.total_steps < options.rollout_steps) {
    Throw<ConfigError>("ppo: total_steps is {}, expected at least rollout_steps ({})",
                       options.total_steps, options.rollout_steps);
  }
  for (const std::int64_t steps : options.snapshots) {
    if (steps < 0 || steps > options.total_steps) {
      Throw<ConfigError>("ppo: snapshots holds {}, expected 0 .. total_steps ({})", steps,
                         options.total_steps);
    }
  }
}

class Trainer {
 public:
  Trainer(const EnvFactory& factory, const PpoOptions& options, std::uint64_t seed,
          const PpoRun& run)
      : options_(options),
        seed_(seed),
        run_(run),
        spec_(factory.spec()),
        env_(factory.Make()),
        learner_(spec_.obs_dim, spec_.action_dim, options, seed),
        state_(spec_.obs_dim),
        rollout_(options.rollout_steps, spec_.obs_dim, spec_.action_dim),
        noise_(options.rollout_steps, spec_.action_dim),
        normalizer_(spec_.obs_dim, options.observation_clip),
        observation_(static_cast<std::size_t>(spec_.obs_dim)),
        float_observation_(spec_.obs_dim),
        action_(static_cast<std::size_t>(spec_.action_dim)),
        aux_(static_cast<std::size_t>(spec_.aux_dim())) {}

  PpoResult Train();

 private:
  void Start();
  void ResetEpisode();
  // Adds observation_ to the moments and writes its z-score.
  void Normalize(float* normalized);
  void CollectRollout();
  void StepEnv(std::int64_t t);
  float ScaleReward(double reward);
  void Optimize();
  void Record(const PpoLosses& losses);
  GaussianMlpPolicy MakePolicy(std::int64_t steps);
  void TakeSnapshots();
  void Save();

  std::int64_t updates() const { return options_.total_steps / options_.rollout_steps; }
  std::string RunName() const { return DescribePpoRun(spec_.name, options_, seed_); }

  const PpoOptions options_;
  const std::uint64_t seed_;
  const PpoRun run_;
  const EnvSpec spec_;
  std::unique_ptr<Env> env_;
  PpoLearner learner_;
  PpoState state_;
  // buffers
  PpoRollout rollout_;
  MatrixF noise_;
  ObservationNormalizer normalizer_;
  std::vector<double> observation_;
  VectorF float_observation_;
  std::vector<double> action_;
  std::vector<double> aux_;
  Clock::time_point update_start_ = Clock::now();
  Clock::time_point last_save_ = Clock::now();
};

PpoResult Trainer::Train() {
  Start();
  while (state_.update < updates()) {
    update_start_ = Clock::now();
    CollectRollout();
    Optimize();
    TakeSnapshots();
    const bool finished = state_.update == updates();
    const bool interrupted = InterruptRequested().load();
    if (finished || interrupted || SecondsSince(last_save_) >= run_.checkpoint_seconds) Save();
    if (interrupted && !finished) throw Interrupted();
  }
  return {MakePolicy(options_.total_steps), std::move(state_.snapshots), std::move(state_.history)};
}

void Trainer::Start() {
  if (!run_.checkpoint.empty() && std::filesystem::exists(run_.checkpoint)) {
    state_ = LoadPpoState(run_.checkpoint, RunName(), spec_.obs_dim);
    if (state_.learner.parameters.size() != learner_.parameters().size()) {
      Throw<DataError>("{}: parameters has {} values, expected {}", run_.checkpoint,
                       state_.learner.parameters.size(), learner_.parameters().size());
    }
    learner_.set_state(state_.learner);
    env_->LoadState(state_.env);
    if (run_.progress != nullptr) run_.progress->Resume(state_.update * options_.rollout_steps);
    return;
  }
  ResetEpisode();
  state_.observation.resize(spec_.obs_dim);
  Normalize(state_.observation.data());
  TakeSnapshots();
}

void Trainer::ResetEpisode() {
  Stream stream(seed_, "ppo/reset", {static_cast<std::uint64_t>(state_.episode)});
  env_->Reset(stream, observation_);
}

void Trainer::Normalize(float* normalized) {
  state_.observation_moments.Add(observation_);
  normalizer_.SetStatistics(state_.observation_moments.mean, state_.observation_moments.variance);
  float_observation_ = Eigen::Map<const VectorD>(observation_.data(), spec_.obs_dim).cast<float>();
  normalizer_.Apply(float_observation_.data(), normalized);
}

void Trainer::CollectRollout() {
  Stream stream(seed_, "ppo/action noise", {static_cast<std::uint64_t>(state_.update)});
  stream.FillNormal(std::span<float>(noise_.data(), static_cast<std::size_t>(noise_.size())));
  rollout_.observations.row(0) = state_.observation.transpose();
  for (std::int64_t t = 0; t < rollout_.steps(); ++t) {
    rollout_.log_density[static_cast<std::size_t>(t)] = learner_.Act(
        rollout_.observations.row(t).data(), noise_.row(t).data(), rollout_.actions.row(t).data());
    try {
      StepEnv(t);
    } catch (const NumericError& error) {
      Throw<NumericError>("ppo: environment step {}: {}",
                          state_.update * options_.rollout_steps + t, error.what());
    }
  }
  state_.observation = rollout_.observations.row(rollout_.steps()).transpose();
  // acting needs no values, so they are computed in batches, by the same parameters
  learner_.Values(rollout_.observations, rollout_.values);
  ComputeAdvantages(rollout_.rewards, rollout_.values, rollout_.ended, options_.discount,
                    options_.gae_lambda, rollout_.advantages);
}

void Trainer::StepEnv(std::int64_t t) {
  const auto step = static_cast<std::size_t>(t);
  std::copy_n(rollout_.actions.row(t).data(), action_.size(), action_.begin());
  const StepResult result = env_->Step(action_, observation_, aux_);
  ++state_.episode_steps;
  state_.episode_return += result.reward;
  rollout_.rewards[step] = ScaleReward(result.reward);

  // the row after an episode's last step is the next episode's first observation
  const bool ended = result.terminated || state_.episode_steps == spec_.max_episode_steps;
  rollout_.ended[step] = ended ? 1 : 0;
  if (ended) {
    PushRecent(state_.episode_return, state_.recent_returns);
    PushRecent(static_cast<double>(state_.episode_steps), state_.recent_lengths);
    state_.discounted_return = 0.0;
    state_.episode_return = 0.0;
    state_.episode_steps = 0;
    ++state_.episode;
    ResetEpisode();
  }
  Normalize(rollout_.observations.row(t + 1).data());
}

float Trainer::ScaleReward(double reward) {
  state_.discounted_return = options_.discount * state_.discounted_return + reward;
  state_.return_moments.Add({&state_.discounted_return, 1});
  const double scaled = reward / std::sqrt(state_.return_moments.variance[0] + 1e-8);
  return static_cast<float>(std::clamp(scaled, -options_.reward_clip, options_.reward_clip));
}

void Trainer::Optimize() {
  const double done = static_cast<double>(state_.update) / static_cast<double>(updates());
  const double learning_rate = options_.learning_rate * (1.0 - done);
  const auto update = static_cast<std::uint64_t>(state_.update);
  const auto rows = static_cast<std::size_t>(options_.rollout_steps / options_.minibatches);
  const double share = 1.0 / static_cast<double>(options_.epochs * options_.minibatches);
  PpoLosses sum;
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    Stream stream(seed_, "ppo/minibatches", {update, static_cast<std::uint64_t>(epoch)});
    const std::vector<std::int64_t> order = stream.Permutation(options_.rollout_steps);
    for (std::size_t begin = 0; begin < order.size(); begin += rows) {
      const PpoLosses losses = learner_.ComputeGradient(
          rollout_, std::span<const std::int64_t>(order).subspan(begin, rows));
      learner_.Step(learning_rate);
      sum.policy += share * losses.policy;
      sum.value += share * losses.value;
      sum.entropy += share * losses.entropy;
      sum.approx_kl += share * losses.approx_kl;
      sum.clip_fraction += share * losses.clip_fraction;
    }
  }
  ++state_.update;
  Record(sum);
}

void Trainer::Record(const PpoLosses& losses) {
  if (!std::isfinite(losses.policy + losses.value + losses.entropy) ||
      !learner_.parameters().allFinite()) {
    Throw<NumericError>(
        "ppo: update {} of {} diverged: policy loss {}, value loss {}, expected finite numbers",
        state_.update, updates(), losses.policy, losses.value);
  }
  const PpoPoint point{.steps = state_.update * options_.rollout_steps,
                       .mean_return = MeanOrZero(state_.recent_returns),
                       .mean_length = MeanOrZero(state_.recent_lengths),
                       .policy_loss = losses.policy,
                       .value_loss = losses.value,
                       .entropy = losses.entropy,
                       .approx_kl = losses.approx_kl,
                       .clip_fraction = losses.clip_fraction,
                       .steps_per_second = static_cast<double>(options_.rollout_steps) /
                                           SecondsSince(update_start_)};
  state_.history.push_back(point);
  if (run_.progress != nullptr) {
    run_.progress->Advance(options_.rollout_steps);
    run_.progress->Note(fmt::format("return {:.0f}", point.mean_return));
  }
}

GaussianMlpPolicy Trainer::MakePolicy(std::int64_t steps) {
  const TanhMlp& actor = learner_.actor();
  const std::span<const float> log_std = learner_.log_std();
  ObservationNormalizer normalizer(spec_.obs_dim, options_.observation_clip);
  normalizer.SetStatistics(state_.observation_moments.mean, state_.observation_moments.variance);
  return GaussianMlpPolicy(
      actor, learner_.parameters().head(actor.parameter_count()),
      Eigen::Map<const VectorF>(log_std.data(), static_cast<Eigen::Index>(log_std.size())),
      std::move(normalizer),
      fmt::format("PPO on {}, seed {}, {} of {} steps", spec_.name, seed_, steps,
                  options_.total_steps));
}

void Trainer::TakeSnapshots() {
  for (const std::int64_t steps : options_.snapshots) {
    if (steps / options_.rollout_steps == state_.update) {
      state_.snapshots.push_back({steps, MakePolicy(steps)});
    }
  }
}

void Trainer::Save() {
  last_save_ = Clock::now();
  if (run_.checkpoint.empty()) return;
  state_.learner = learner_.state();
  state_.env = env_->SaveState();
  SavePpoState(run_.checkpoint, RunName(), state_);
}

}  // namespace

PpoResult TrainPpo(const EnvFactory& factory, const PpoOptions& options, std::uint64_t seed,
                   const PpoRun& run) {
  CheckOptions(options);
  return Trainer(factory, options, seed, run).Train();
}

}  // namespace lfiw::policies
