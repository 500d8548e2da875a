#include "core/logs/alignment_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A system and the policy that acts in it, each with its own noise.
struct LoggedSystem {
  Eigen::Index states = 2;
  std::int64_t episodes = 150, steps = 20;
  std::function<VectorD(Stream&)> start;
  // The action at a state; the last one is that of the step before, zeros at first.
  std::function<VectorD(const VectorD& s, const VectorD& last, Stream&)> act;
  std::function<VectorD(const VectorD& s, const VectorD& a, Stream&)> step;
  std::function<double(const VectorD& s, const VectorD& a, const VectorD& next, Stream&)> reward =
      [](const VectorD& s, const VectorD& a, const VectorD&, Stream&) {
        return 1.0 - s.squaredNorm() - 0.1 * a.squaredNorm();
      };
};

VectorD Noise(Eigen::Index count, double scale, Stream& stream) {
  VectorD noise(count);
  for (double& x : noise) x = scale * stream.Normal();
  return noise;
}

struct LoggedEpisode {
  std::vector<VectorD> observations, actions;
  std::vector<double> rewards;
};

std::vector<LoggedEpisode> Simulate(const LoggedSystem& system) {
  std::vector<LoggedEpisode> episodes;
  Stream stream(7, "alignment test");
  for (std::int64_t e = 0; e < system.episodes; ++e) {
    LoggedEpisode episode;
    VectorD s = system.start ? system.start(stream) : Noise(system.states, 1.0, stream);
    episode.observations.push_back(s);
    VectorD last;
    for (std::int64_t t = 0; t < system.steps; ++t) {
      const VectorD a = system.act(s, last, stream);
      last = a;
      const VectorD next = system.step(s, a, stream);
      episode.actions.push_back(a);
      episode.rewards.push_back(system.reward(s, a, next, stream));
      episode.observations.push_back(next);
      s = next;
    }
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

// Row t gets what belongs to row t - lag; rows without one get zeros.
template <class T>
void Shift(std::vector<T>& values, int lag, const T& fill) {
  std::vector<T> out(values.size(), fill);
  for (std::ptrdiff_t t = 0; t < std::ssize(values); ++t) {
    if (t - lag < 0 || t - lag >= std::ssize(values)) continue;
    out[static_cast<std::size_t>(t)] = values[static_cast<std::size_t>(t - lag)];
  }
  values = std::move(out);
}

struct RowShift {
  int actions = 0, rewards = 0;
};

EpisodeBatch BatchOf(std::vector<LoggedEpisode> episodes, const RowShift& shift = {}) {
  EpisodeBatch log;
  std::vector<VectorD> observations, actions;
  for (LoggedEpisode& episode : episodes) {
    const VectorD none = VectorD::Zero(episode.actions.front().size());
    Shift(episode.actions, shift.actions, none);
    Shift(episode.rewards, shift.rewards, 0.0);
    for (const VectorD& s : episode.observations) observations.push_back(s);
    for (const VectorD& a : episode.actions) actions.push_back(a);
    log.rewards.insert(log.rewards.end(), episode.rewards.begin(), episode.rewards.end());
    log.offsets.push_back(std::ssize(log.rewards));
    log.terminated.push_back(0);
  }
  const auto fill = [](const std::vector<VectorD>& rows, MatrixF& matrix) {
    matrix.resize(std::ssize(rows), rows.front().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      matrix.row(static_cast<Eigen::Index>(i)) = rows[i].transpose().cast<float>();
    }
  };
  fill(observations, log.observations);
  fill(actions, log.actions);
  log.aux.resize(log.steps(), 0);
  return log;
}

std::vector<Finding> FindingsOf(const EpisodeBatch& log) {
  AlignmentAuditor auditor;
  auditor.Add(log);
  return auditor.Findings();
}

auto Found(Severity severity, const std::string& code, const std::string& text = "") {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code),
               Field(&Finding::text, HasSubstr(text)));
}

VectorD Vector2(double x, double y) { return (VectorD(2) << x, y).finished(); }

LoggedSystem LinearSystem() {
  LoggedSystem system;
  system.act = [](const VectorD& s, const VectorD&, Stream& stream) {
    return VectorD(Noise(1, 0.3, stream).array() - 0.3 * s[0] - 0.5 * s[1]);
  };
  system.step = [](const VectorD& s, const VectorD& a, Stream& stream) {
    return VectorD(Vector2(0.95 * s[0] + 0.1 * s[1], 0.85 * s[1] + 0.5 * a[0]) +
                   Noise(2, 0.05, stream));
  };
  return system;
}

// As LinearSystem with a deterministic policy: what it does next tells where it is then.
LoggedSystem DeterministicPolicySystem() {
  LoggedSystem system = LinearSystem();
  system.act = [](const VectorD& s, const VectorD&, Stream&) {
    return VectorD(VectorD::Constant(1, -0.3 * s[0] - 0.5 * s[1]));
  };
  system.step = [](const VectorD& s, const VectorD& a, Stream& stream) {
    return VectorD(Vector2(0.95 * s[0] + 0.1 * s[1], 0.85 * s[1] + 0.5 * a[0]) +
                   Noise(2, 0.5, stream));
  };
  return system;
}

LoggedSystem CurvedPolicySystem() {
  LoggedSystem system = DeterministicPolicySystem();
  system.act = [](const VectorD& s, const VectorD&, Stream&) {
    return VectorD(VectorD::Constant(1, std::tanh(-3.0 * s[0] + 2.0 * std::sin(2.0 * s[1]))));
  };
  return system;
}

// Three actions that push left, nothing or right; chosen with probabilities by the state.
LoggedSystem DiscreteSystem() {
  LoggedSystem system;
  system.act = [](const VectorD& s, const VectorD&, Stream& stream) {
    VectorD action = VectorD::Zero(3);
    const double left = 1.0 / (1.0 + std::exp(-s[0]));
    const double u = stream.Uniform();
    action[u < 0.3 ? 1 : (u < 0.3 + 0.7 * left ? 0 : 2)] = 1.0;
    return action;
  };
  system.step = [](const VectorD& s, const VectorD& a, Stream& stream) {
    return VectorD(Vector2(s[0] + 0.1 * s[1], 0.9 * s[1] + 0.4 * (a[2] - a[0])) +
                   Noise(2, 0.1, stream));
  };
  return system;
}

// As large as HalfCheetah, not linear, with a policy of tanh units.
LoggedSystem WalkingSystem() {
  LoggedSystem system;
  system.states = 17;
  system.episodes = 40;
  system.steps = 200;
  Stream weights(3, "walking system");
  const auto matrix = [&weights](Eigen::Index rows, Eigen::Index cols, double scale) {
    MatrixD out(rows, cols);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < cols; ++j) out(i, j) = scale * weights.Normal();
    }
    return out;
  };
  const MatrixD gain = matrix(6, 17, 0.4), push = matrix(17, 6, 0.15), turn = matrix(17, 17, 0.2);
  system.act = [gain](const VectorD& s, const VectorD&, Stream& stream) {
    return VectorD(
        ((gain * s).array().tanh().matrix() + Noise(6, 0.2, stream)).cwiseMax(-1.0).cwiseMin(1.0));
  };
  system.step = [push, turn](const VectorD& s, const VectorD& a, Stream& stream) {
    return VectorD(0.9 * s + 0.2 * (turn * s).array().sin().matrix() + push * a +
                   Noise(17, 0.02, stream));
  };
  system.reward = [](const VectorD& s, const VectorD& a, const VectorD& next, Stream&) {
    return next[0] - s[0] + 0.5 * s[8] - 0.1 * a.squaredNorm();
  };
  return system;
}

// Exploration that lasts over several steps.
LoggedSystem SlowNoiseSystem() {
  LoggedSystem system = LinearSystem();
  system.act = [](const VectorD&, const VectorD& last, Stream& stream) {
    const VectorD noise = Noise(1, 0.3, stream);
    return last.size() == 0 ? noise : VectorD(0.85 * last + noise);
  };
  return system;
}

// Shocks that drown what an action does to the next state; the reward tells it.
LoggedSystem NoisySystem() {
  LoggedSystem system = LinearSystem();
  system.step = [](const VectorD& s, const VectorD& a, Stream& stream) {
    return VectorD(0.5 * s + Vector2(0.0, 0.05 * a[0]) + Noise(2, 1.0, stream));
  };
  system.reward = [](const VectorD& s, const VectorD& a, const VectorD&, Stream& stream) {
    return (stream.Uniform() < 1.0 / (1.0 + std::exp(-s[0] * a[0] - a[0])) ? 1.0 : 0.0);
  };
  return system;
}

// The next state has nothing to do with the action; the reward has.
LoggedSystem BanditSystem() {
  LoggedSystem system = DiscreteSystem();
  system.step = [](const VectorD&, const VectorD&, Stream& stream) {
    return Noise(2, 1.0, stream);
  };
  system.reward = [](const VectorD& s, const VectorD& a, const VectorD&, Stream& stream) {
    return stream.Uniform() < 0.2 + 0.1 * a[1] + (s[0] > 0.0 ? 0.2 * a[2] : 0.0) ? 1.0 : 0.0;
  };
  return system;
}

// Cells of a corridor as one-hot observations, with steps that sometimes fail.
LoggedSystem CorridorSystem() {
  LoggedSystem system;
  system.states = 6;
  const auto cell = [](const VectorD& s) {
    Eigen::Index at = 0;
    s.maxCoeff(&at);
    return at;
  };
  system.start = [](Stream& stream) {
    return VectorD(VectorD::Unit(6, static_cast<Eigen::Index>(stream.Below(6))));
  };
  system.act = [](const VectorD&, const VectorD&, Stream& stream) {
    return VectorD(VectorD::Unit(2, stream.Uniform() < 0.6 ? 1 : 0));
  };
  system.step = [cell](const VectorD& s, const VectorD& a, Stream& stream) {
    const Eigen::Index move = stream.Uniform() < 0.8 ? (a[1] > 0.5 ? 1 : -1) : 0;
    return VectorD(VectorD::Unit(6, std::clamp<Eigen::Index>(cell(s) + move, 0, 5)));
  };
  system.reward = [cell](const VectorD&, const VectorD&, const VectorD& next, Stream&) {
    return cell(next) == 5 ? 1.0 : 0.0;
  };
  return system;
}

// Contact forces and the like: many dimensions, of which few react to the action.
LoggedSystem WideSystem() {
  LoggedSystem system = LinearSystem();
  system.states = 220;
  system.episodes = 60;
  system.steps = 100;
  system.step = [](const VectorD& s, const VectorD& a, Stream& stream) {
    VectorD next = 0.8 * s + Noise(220, 0.3, stream);
    for (Eigen::Index i = 0; i < 40; ++i) next[i] += 0.5 * a[0];
    return next;
  };
  system.reward = [](const VectorD& s, const VectorD&, const VectorD& next, Stream&) {
    return next[3] - s[3];
  };
  return system;
}

// Rewards for where the step began, whatever it does.
LoggedSystem StateRewardSystem() {
  LoggedSystem system = LinearSystem();
  system.reward = [](const VectorD& s, const VectorD&, const VectorD&, Stream& stream) {
    return std::exp(-s.squaredNorm()) + 0.1 * stream.Normal();
  };
  return system;
}

struct NamedSystem {
  std::string name;
  std::function<LoggedSystem()> make;
};

std::vector<NamedSystem> Systems() {
  return {{"linear", LinearSystem},
          {"deterministic policy", DeterministicPolicySystem},
          {"curved policy", CurvedPolicySystem},
          {"discrete", DiscreteSystem},
          {"walking", WalkingSystem},
          {"slow noise", SlowNoiseSystem},
          {"noisy", NoisySystem},
          {"bandit", BanditSystem},
          {"corridor", CorridorSystem},
          {"wide", WideSystem},
          {"state reward", StateRewardSystem}};
}

TEST(AlignmentAudit, FindsNothingInSoundLogs) {
  for (const NamedSystem& system : Systems()) {
    std::vector<std::string> texts;
    for (const Finding& finding : FindingsOf(BatchOf(Simulate(system.make())))) {
      texts.push_back(finding.text);
    }
    EXPECT_THAT(texts, IsEmpty()) << system.name;
  }
}

TEST(AlignmentAudit, FindsActionsOfTheRowBefore) {
  for (const auto& system : {LinearSystem(), DiscreteSystem(), WalkingSystem(), SlowNoiseSystem(),
                             CorridorSystem(), WideSystem()}) {
    EXPECT_THAT(FindingsOf(BatchOf(Simulate(system), {.actions = 1})),
                Contains(Found(Severity::kError, "action_shifted", "one row too late")));
  }
}

TEST(AlignmentAudit, FindsActionsOfTheRowAfter) {
  for (const auto& system :
       {LinearSystem(), DiscreteSystem(), WalkingSystem(), SlowNoiseSystem(), CorridorSystem()}) {
    EXPECT_THAT(FindingsOf(BatchOf(Simulate(system), {.actions = -1})),
                Contains(Found(Severity::kError, "action_shifted", "one row too early")));
  }
}

TEST(AlignmentAudit, FindsActionsTwoRowsOff) {
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(LinearSystem()), {.actions = 2})),
              Contains(Found(Severity::kError, "action_shifted", "2 rows too late")));
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(DiscreteSystem()), {.actions = -2})),
              Contains(Found(Severity::kError, "action_shifted", "2 rows too early")));
}

TEST(AlignmentAudit, FindsRewardsOfOtherRows) {
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(LinearSystem()), {.rewards = 1})),
              ElementsAre(Found(Severity::kError, "reward_row_shifted", "one row too late")));
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(WalkingSystem()), {.rewards = -1})),
              ElementsAre(Found(Severity::kError, "reward_row_shifted", "one row too early")));
}

TEST(AlignmentAudit, FindsBothShiftsOfARowThatHoldsWhatLedToIt) {
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(WalkingSystem()), {.actions = 1, .rewards = 1})),
              ElementsAre(Found(Severity::kError, "action_shifted"),
                          Found(Severity::kError, "reward_row_shifted")));
}

TEST(AlignmentAudit, FindsRewardsThatAreAddedUp) {
  for (const auto& system : {LinearSystem(), DiscreteSystem()}) {
    std::vector<LoggedEpisode> episodes = Simulate(system);
    for (LoggedEpisode& episode : episodes) {
      for (std::size_t t = 1; t < episode.rewards.size(); ++t) {
        episode.rewards[t] += episode.rewards[t - 1];
      }
    }
    EXPECT_THAT(FindingsOf(BatchOf(episodes)),
                ElementsAre(Found(Severity::kError, "rewards_added_up")));
  }
}

TEST(AlignmentAudit, FindsRewardsThatNothingTells) {
  EpisodeBatch log = BatchOf(Simulate(LinearSystem()));
  const std::vector<double> rewards = log.rewards;
  const auto order = Stream(2, "shuffled rewards").Permutation(log.steps());
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    log.rewards[i] = rewards[static_cast<std::size_t>(order[i])];
  }
  EXPECT_THAT(FindingsOf(log), ElementsAre(Found(Severity::kError, "unrelated_rewards")));
}

TEST(AlignmentAudit, FindsRowsThatAreShuffled) {
  LoggedSystem system = LinearSystem();
  system.episodes = 300;
  std::vector<LoggedEpisode> episodes = Simulate(system);
  // shuffled flags leave episodes of all lengths
  for (std::size_t e = 0; e < episodes.size(); ++e) {
    const std::size_t steps = 3 + (e * e) % 17;
    episodes[e].observations.resize(steps + 1);
    episodes[e].actions.resize(steps);
    episodes[e].rewards.resize(steps);
  }
  EpisodeBatch log = BatchOf(episodes);
  EXPECT_THAT(FindingsOf(log), IsEmpty());
  const auto order = Stream(3, "shuffled rows").Permutation(log.observations.rows());
  log.observations = MatrixF(log.observations(order, Eigen::all));
  EXPECT_THAT(FindingsOf(log), ElementsAre(Found(Severity::kError, "no_order")));
}

TEST(AlignmentAudit, SomeHundredRowsShowThatThereIsNoOrderAndNoEffect) {
  LoggedSystem system = LinearSystem();
  system.episodes = 60;
  system.steps = 14;
  const EpisodeBatch sound = BatchOf(Simulate(system));
  EXPECT_THAT(FindingsOf(sound), IsEmpty());
  EpisodeBatch log = sound;
  const std::vector<std::int64_t> order =
      Stream(1, "shuffled actions").Permutation(log.actions.rows());
  log.actions = MatrixF(log.actions(order, Eigen::all));
  EXPECT_THAT(FindingsOf(log), ElementsAre(Found(Severity::kError, "no_action_effect")));
}

TEST(AlignmentAudit, FindsActionsThatMatterForNothing) {
  for (const auto& system : {LinearSystem(), DiscreteSystem(), WalkingSystem()}) {
    EpisodeBatch log = BatchOf(Simulate(system));
    const std::vector<std::int64_t> order =
        Stream(1, "shuffled actions").Permutation(log.actions.rows());
    log.actions = MatrixF(log.actions(order, Eigen::all));
    EXPECT_THAT(FindingsOf(log), ElementsAre(Found(Severity::kError, "no_action_effect")));
  }
}

TEST(AlignmentAudit, HoldsStretchesOutWhereThereAreFewEpisodes) {
  LoggedSystem system = LinearSystem();
  system.episodes = 2;
  system.steps = 2000;
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(system))), IsEmpty());
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(system), {.actions = 1})),
              Contains(Found(Severity::kError, "action_shifted")));
}

TEST(AlignmentAudit, SaysNothingOfShortLogs) {
  LoggedSystem system = LinearSystem();
  system.episodes = 5;
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(system), {.actions = 1})), IsEmpty());
  system.episodes = 1000;
  system.steps = 1;
  EXPECT_THAT(FindingsOf(BatchOf(Simulate(system))), IsEmpty());
}

TEST(AlignmentAudit, IsTheSameBatchByBatch) {
  const EpisodeBatch log = BatchOf(Simulate(LinearSystem()), {.actions = 1});
  AlignmentAuditor whole, parts;
  whole.Add(log);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t one[] = {e};
    parts.Add(SelectEpisodes(log, one));
  }
  ASSERT_EQ(whole.Findings().size(), parts.Findings().size());
  EXPECT_EQ(whole.Findings()[0].text, parts.Findings()[0].text);
}

}  // namespace
}  // namespace lfiw::core
