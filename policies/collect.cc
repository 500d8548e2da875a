#include "policies/collect.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "policies/logged_density.h"

namespace lfiw::policies {
namespace {

// Episodes that one task steps together, so that the policy sees batches. Small enough for the
// tasks of 20 episodes to keep two cores busy.
constexpr std::int64_t kBlock = 8;

// What one step of one episode leaves.
struct StepView {
  std::int64_t episode;  // counted from 0 within the request
  std::int64_t t;
  std::span<const float> action;  // executed
  std::span<const double> aux;
  StepResult result;
  std::span<const double> next_observation;
};

// Receives episodes as they run. Different episodes are reported from different threads.
class EpisodeSink {
 public:
  virtual ~EpisodeSink() = default;
  virtual void Begin(std::int64_t episode, std::span<const double> observation) = 0;
  virtual void Step(const StepView& step) = 0;
};

void CopyToFloat(std::span<const double> from, float* to) {
  std::transform(from.begin(), from.end(), to, [](double x) { return static_cast<float>(x); });
}

// A few episodes stepped in lockstep, on one thread.
class Lockstep {
 public:
  Lockstep(const EnvFactory& factory, const Policy& policy, const EpisodeRequest& request,
           std::int64_t begin, std::int64_t end)
      : spec_(factory.spec()),
        policy_(policy),
        request_(request),
        observations_(end - begin, spec_.obs_dim),
        noise_(end - begin, policy.noise_dim()),
        actions_(end - begin, spec_.action_dim),
        steps_(static_cast<std::size_t>(end - begin)),
        next_observation_(static_cast<std::size_t>(spec_.obs_dim)),
        action_(static_cast<std::size_t>(spec_.action_dim)),
        aux_(static_cast<std::size_t>(spec_.aux_dim())) {
    for (std::int64_t e = begin; e < end; ++e) running_.push_back({e, factory.Make(), {}});
  }

  void Run(EpisodeSink& sink) {
    for (std::size_t i = 0; i < running_.size(); ++i) Begin(i, sink);
    for (std::int64_t t = 0; t < request_.horizon && !running_.empty(); ++t) {
      if (InterruptRequested().load()) throw Interrupted();
      Act(t);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < running_.size(); ++i) {
        if (StepOne(i, t, sink).terminated) continue;
        // the next batch holds the episodes that go on, without gaps
        CopyToFloat(next_observation_, Row(observations_, kept));
        if (kept != i) running_[kept] = std::move(running_[i]);
        ++kept;
      }
      running_.resize(kept);
    }
  }

 private:
  struct Slot {
    std::int64_t episode;
    std::unique_ptr<Env> env;
    MatrixF noise;  // [horizon, noise_dim]
  };

  static float* Row(MatrixF& matrix, std::size_t row) {
    return matrix.data() + static_cast<Eigen::Index>(row) * matrix.cols();
  }
  std::uint64_t StreamIndex(const Slot& slot) const {
    return static_cast<std::uint64_t>(request_.first_episode + slot.episode);
  }

  void Begin(std::size_t i, EpisodeSink& sink) {
    Slot& slot = running_[i];
    Stream reset(request_.seed, request_.purpose + "/reset", {StreamIndex(slot)});
    slot.env->Reset(reset, next_observation_);
    sink.Begin(slot.episode, next_observation_);
    CopyToFloat(next_observation_, Row(observations_, i));
    Stream noise(request_.seed, request_.purpose + "/action noise", {StreamIndex(slot)});
    slot.noise.resize(request_.horizon, policy_.noise_dim());
    noise.FillNormal({slot.noise.data(), static_cast<std::size_t>(slot.noise.size())});
  }

  // Writes the executed (clipped) actions of all running episodes.
  void Act(std::int64_t t) {
    const auto rows = static_cast<Eigen::Index>(running_.size());
    for (Eigen::Index i = 0; i < rows; ++i) {
      noise_.row(i) = running_[static_cast<std::size_t>(i)].noise.row(t);
    }
    std::fill(steps_.begin(), steps_.end(), t);
    policy_.Sample(observations_.topRows(rows), std::span(steps_).first(running_.size()),
                   noise_.topRows(rows), actions_.topRows(rows));
    for (Eigen::Index i = 0; i < rows; ++i) {
      if (actions_.row(i).allFinite()) continue;
      Throw<PolicyError>(
          "episode {}, step {}: the policy's action is ({}), expected finite numbers",
          StreamIndex(running_[static_cast<std::size_t>(i)]), t,
          fmt::join(actions_.row(i).begin(), actions_.row(i).end(), ", "));
    }
    ClipActions(spec_, actions_.topRows(rows));
  }

  StepResult StepOne(std::size_t i, std::int64_t t, EpisodeSink& sink) {
    Slot& slot = running_[i];
    const std::span<const float> action(Row(actions_, i), action_.size());
    std::copy(action.begin(), action.end(), action_.begin());
    try {
      const StepResult result = slot.env->Step(action_, next_observation_, aux_);
      sink.Step({slot.episode, t, action, aux_, result, next_observation_});
      return result;
    } catch (const NumericError& error) {
      Throw<NumericError>("episode {}, step {}: {}", StreamIndex(slot), t, error.what());
    }
  }

  const EnvSpec& spec_;
  const Policy& policy_;
  const EpisodeRequest& request_;
  std::vector<Slot> running_;
  MatrixF observations_, noise_, actions_;  // [running, .]
  std::vector<std::int64_t> steps_;
  std::vector<double> next_observation_, action_, aux_;
};

void RunEpisodes(const EnvFactory& factory, const Policy& policy, const EpisodeRequest& request,
                 EpisodeSink& sink) {
  LFIW_ASSERT(request.episodes >= 1 && request.horizon >= 1);
  CheckFits(policy, factory.spec());
  ParallelBlocks(request.episodes, kBlock, [&](std::int64_t begin, std::int64_t end) {
    Lockstep(factory, policy, request, begin, end).Run(sink);
    if (request.progress != nullptr) request.progress->Advance(end - begin);
  });
}

// Writes into arrays with room for `horizon` steps of every episode.
class BatchSink final : public EpisodeSink {
 public:
  BatchSink(const EnvSpec& spec, const EpisodeRequest& request)
      : horizon_(request.horizon), lengths_(static_cast<std::size_t>(request.episodes)) {
    const std::int64_t steps = request.episodes * request.horizon;
    log_.observations.resize(steps + request.episodes, spec.obs_dim);
    log_.actions.resize(steps, spec.action_dim);
    log_.aux.resize(steps, spec.aux_dim());
    log_.rewards.resize(static_cast<std::size_t>(steps));
    log_.terminated.resize(static_cast<std::size_t>(request.episodes));
  }

  void Begin(std::int64_t episode, std::span<const double> observation) override {
    CopyToFloat(observation, log_.observations.row(episode * (horizon_ + 1)).data());
  }

  void Step(const StepView& step) override {
    const std::int64_t row = step.episode * horizon_ + step.t;
    std::copy(step.action.begin(), step.action.end(), log_.actions.row(row).data());
    CopyToFloat(step.aux, log_.aux.data() + row * log_.aux.cols());
    log_.rewards[static_cast<std::size_t>(row)] = step.result.reward;
    CopyToFloat(step.next_observation, log_.observations.row(row + step.episode + 1).data());
    const auto e = static_cast<std::size_t>(step.episode);
    lengths_[e] = step.t + 1;
    log_.terminated[e] = step.result.terminated ? 1 : 0;
  }

  // The log, with the room that early ends left free closed.
  EpisodeBatch Take() {
    for (std::int64_t e = 0; e < static_cast<std::int64_t>(lengths_.size()); ++e) {
      Move(e);
      log_.offsets.push_back(log_.steps() + lengths_[static_cast<std::size_t>(e)]);
    }
    const std::int64_t steps = log_.steps();
    if (steps < log_.actions.rows()) {
      log_.observations.conservativeResize(steps + log_.episodes(), Eigen::NoChange);
      log_.actions.conservativeResize(steps, Eigen::NoChange);
      log_.aux.conservativeResize(steps, Eigen::NoChange);
      log_.rewards.resize(static_cast<std::size_t>(steps));
    }
    return std::move(log_);
  }

 private:
  // Moves episode `e` up to the end of those before it; rows only ever move towards the front.
  void Move(std::int64_t e) {
    const std::int64_t from = e * horizon_, to = log_.steps();
    if (from == to) return;
    for (std::int64_t t = 0; t < lengths_[static_cast<std::size_t>(e)]; ++t) {
      log_.observations.row(to + e + t) = log_.observations.row(from + e + t);
      log_.actions.row(to + t) = log_.actions.row(from + t);
      log_.aux.row(to + t) = log_.aux.row(from + t);
      log_.rewards[static_cast<std::size_t>(to + t)] =
          log_.rewards[static_cast<std::size_t>(from + t)];
    }
    const std::int64_t last = lengths_[static_cast<std::size_t>(e)];
    log_.observations.row(to + e + last) = log_.observations.row(from + e + last);
  }

  std::int64_t horizon_;
  std::vector<std::int64_t> lengths_;
  EpisodeBatch log_;
};

class ReturnSink final : public EpisodeSink {
 public:
  ReturnSink(std::int64_t episodes, double discount)
      : discount_(discount),
        factors_(static_cast<std::size_t>(episodes), 1.0),
        returns_(static_cast<std::size_t>(episodes)),
        lengths_(static_cast<std::size_t>(episodes)) {}

  const std::vector<double>& returns() const { return returns_; }
  const std::vector<double>& lengths() const { return lengths_; }

  void Begin(std::int64_t /*episode*/, std::span<const double> /*observation*/) override {}

  void Step(const StepView& step) override {
    const auto e = static_cast<std::size_t>(step.episode);
    returns_[e] += factors_[e] * step.result.reward;
    factors_[e] *= discount_;
    lengths_[e] = static_cast<double>(step.t + 1);
  }

 private:
  double discount_;
  std::vector<double> factors_;  // discount^t of each episode's next step
  std::vector<double> returns_, lengths_;
};

}  // namespace

EpisodeBatch CollectEpisodes(const EnvFactory& factory, const Policy& policy,
                             const EpisodeRequest& request) {
  BatchSink sink(factory.spec(), request);
  RunEpisodes(factory, policy, request, sink);
  EpisodeBatch log = sink.Take();
  if (policy.has_density()) log.behavior_log_density = LoggedDensity(log, policy, factory.spec());
  return log;
}

MonteCarloEstimate MonteCarloValue(const EnvFactory& factory, const Policy& policy,
                                   const EpisodeRequest& request, double discount) {
  ReturnSink sink(request.episodes, discount);
  RunEpisodes(factory, policy, request, sink);
  return {.value = Mean(sink.returns()),
          .standard_error = request.episodes > 1 ? StandardError(sink.returns()) : 0.0,
          .episodes = request.episodes,
          .mean_length = Mean(sink.lengths())};
}

}  // namespace lfiw::policies
