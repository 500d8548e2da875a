#include "policies/ppo/ppo_state.h"

#include <array>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::policies {
namespace {

constexpr const char* kFormat = "lfiw ppo checkpoint 1";

constexpr std::size_t kPointFields = 9;

std::array<double, kPointFields> ToArray(const PpoPoint& p) {
  return {static_cast<double>(p.steps),
          p.mean_return,
          p.mean_length,
          p.policy_loss,
          p.value_loss,
          p.entropy,
          p.approx_kl,
          p.clip_fraction,
          p.steps_per_second};
}

PpoPoint ToPoint(const double* v) {
  return {.steps = static_cast<std::int64_t>(v[0]),
          .mean_return = v[1],
          .mean_length = v[2],
          .policy_loss = v[3],
          .value_loss = v[4],
          .entropy = v[5],
          .approx_kl = v[6],
          .clip_fraction = v[7],
          .steps_per_second = v[8]};
}

void PutMoments(const std::string& name, const RunningMoments& moments, NpzFile& file) {
  const auto put = [&](const char* part, const VectorD& v) {
    file.Put(name + part, std::vector<double>(v.begin(), v.end()));
  };
  put("_mean", moments.mean);
  put("_variance", moments.variance);
  file.Put(name + "_count", std::vector<double>{moments.count});
}

// Reads arrays and checks their lengths.
class Reader {
 public:
  Reader(const std::string& path, const NpzFile& file) : path_(path), file_(file) {}

  std::vector<double> Doubles(const std::string& name, std::size_t size) const {
    std::vector<double> values = file_.GetDoubles(name);
    Require(name, values.size(), size);
    return values;
  }
  double Double(const std::string& name) const { return Doubles(name, 1).front(); }
  std::vector<std::int64_t> Integers(const std::string& name, std::size_t size) const {
    std::vector<std::int64_t> values = file_.GetIntegers(name);
    Require(name, values.size(), size);
    return values;
  }
  VectorF Floats(const std::string& name, std::int64_t size) const {
    VectorF values = file_.GetVector(name);
    Require(name, static_cast<std::size_t>(values.size()), static_cast<std::size_t>(size));
    return values;
  }
  void Moments(const std::string& name, RunningMoments& moments) const {
    const auto size = static_cast<std::size_t>(moments.mean.size());
    const std::vector<double> mean = Doubles(name + "_mean", size);
    const std::vector<double> variance = Doubles(name + "_variance", size);
    moments.mean = Eigen::Map<const VectorD>(mean.data(), moments.mean.size());
    moments.variance = Eigen::Map<const VectorD>(variance.data(), moments.mean.size());
    moments.count = Double(name + "_count");
  }
  void Require(const std::string& name, std::size_t size, std::size_t expected) const {
    if (size == expected) return;
    Throw<DataError>("{}: {} has {} values, expected {}", path_, name, size, expected);
  }

 private:
  const std::string& path_;
  const NpzFile& file_;
};

std::string SnapshotPrefix(std::size_t index) { return fmt::format("snapshot_{}_", index); }

void CheckRun(const std::string& path, const std::string& run, const NpzFile& file) {
  if (!file.Has("format") || file.GetText("format") != kFormat) {
    Throw<DataError>("{}: not a PPO checkpoint, expected an array format with the text \"{}\"",
                     path, kFormat);
  }
  if (const std::string found = file.GetText("run"); found != run) {
    Throw<ConfigError>("{}: checkpoint of another run ({}), expected {}; remove it to start anew",
                       path, found, run);
  }
}

}  // namespace

std::string DescribePpoRun(const std::string& env, const PpoOptions& options, std::uint64_t seed) {
  return fmt::format("{}, seed {}, {}", env, seed, CanonicalText(options));
}

void SavePpoState(const std::string& path, const std::string& run, const PpoState& state) {
  NpzFile file;
  file.Put("format", std::string(kFormat));
  file.Put("run", run);
  file.Put("counters", std::vector<std::int64_t>{state.update, state.episode, state.episode_steps,
                                                 state.learner.optimizer.steps});
  file.Put("parameters", state.learner.parameters);
  file.Put("first_moment", state.learner.optimizer.mean);
  file.Put("second_moment", state.learner.optimizer.square);
  PutMoments("observation", state.observation_moments, file);
  PutMoments("return", state.return_moments, file);
  file.Put("returns_under_way", std::vector<double>{state.discounted_return, state.episode_return});
  file.Put("env", state.env);
  file.Put("observation", state.observation);
  file.Put("recent_returns", state.recent_returns);
  file.Put("recent_lengths", state.recent_lengths);
  std::vector<double> history;
  for (const PpoPoint& point : state.history) {
    const auto values = ToArray(point);
    history.insert(history.end(), values.begin(), values.end());
  }
  file.Put("history", history);
  std::vector<std::int64_t> snapshot_steps;
  for (const PpoSnapshot& snapshot : state.snapshots) {
    snapshot.policy.Put(SnapshotPrefix(snapshot_steps.size()), file);
    snapshot_steps.push_back(snapshot.steps);
  }
  file.Put("snapshots", snapshot_steps);
  file.Write(path);
}

PpoState LoadPpoState(const std::string& path, const std::string& run, std::int64_t obs_dim) {
  const NpzFile file = NpzFile::Read(path);
  CheckRun(path, run, file);
  const Reader reader(path, file);
  PpoState state(obs_dim);
  const std::vector<std::int64_t> counters = reader.Integers("counters", 4);
  state.update = counters[0];
  state.episode = counters[1];
  state.episode_steps = counters[2];
  state.learner.optimizer.steps = counters[3];
  state.learner.parameters = file.GetVector("parameters");
  state.learner.optimizer.mean = reader.Floats("first_moment", state.learner.parameters.size());
  state.learner.optimizer.square = reader.Floats("second_moment", state.learner.parameters.size());
  reader.Moments("observation", state.observation_moments);
  reader.Moments("return", state.return_moments);
  const std::vector<double> under_way = reader.Doubles("returns_under_way", 2);
  state.discounted_return = under_way[0];
  state.episode_return = under_way[1];
  state.env = file.GetDoubles("env");
  state.observation = reader.Floats("observation", obs_dim);
  state.recent_returns = file.GetDoubles("recent_returns");
  state.recent_lengths = reader.Doubles("recent_lengths", state.recent_returns.size());
  const std::vector<double> history =
      reader.Doubles("history", static_cast<std::size_t>(state.update) * kPointFields);
  for (std::size_t i = 0; i < history.size(); i += kPointFields) {
    state.history.push_back(ToPoint(history.data() + i));
  }
  const std::vector<std::int64_t> snapshot_steps = file.GetIntegers("snapshots");
  for (std::size_t i = 0; i < snapshot_steps.size(); ++i) {
    state.snapshots.push_back(
        {snapshot_steps[i], GaussianMlpPolicy::Get(SnapshotPrefix(i), path, file)});
  }
  return state;
}

}  // namespace lfiw::policies
