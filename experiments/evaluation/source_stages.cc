#include "experiments/evaluation/source_stages.h"

#include <fmt/format.h>

#include "core/arrays/npz.h"
#include "core/logs/log_writer.h"
#include "core/run/atomic_file.h"
#include "experiments/evaluation/ppo_curve.h"
#include "policies/files/policy_file.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kCurveFile = "curve.npz";
constexpr const char* kTruthFile = "truth.npz";

}  // namespace

void SavePpoResult(const PpoResult& result, const std::string& directory) {
  result.policy.Save(directory + "/" + PolicyStage::kPolicyFile);
  for (const PpoSnapshot& snapshot : result.snapshots) {
    snapshot.policy.Save(directory + "/" + PolicyStage::SnapshotFile(snapshot.steps));
  }
  std::vector<std::int64_t> steps;
  std::vector<double> returns;
  for (const PpoPoint& point : result.history) {
    steps.push_back(point.steps);
    returns.push_back(point.mean_return);
  }
  NpzFile curve;
  curve.Put("steps", steps);
  curve.Put("return", returns);
  curve.Write(directory + "/" + kCurveFile);
  WriteFileAtomically(directory + "/curve.csv", PpoCurveColumns().Format(result.history));
}

std::string PolicyStage::SnapshotFile(std::int64_t steps) {
  return fmt::format("policy_{}.npz", steps);
}

TrainingCurve PolicyStage::CurveOf(const Artifact& run, const std::string& label) {
  const NpzFile curve = NpzFile::Read(run.File(kCurveFile));
  return {label, curve.GetIntegers("steps"), curve.GetDoubles("return")};
}

void PolicyStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress(inputs.title, key.ppo.total_steps, "steps");
  const PpoRun run{.checkpoint = work.Checkpoints() + "/ppo.npz",
                   .checkpoint_seconds = work.checkpoint_seconds,
                   .progress = progress.get()};
  SavePpoResult(TrainPpo(inputs.env, key.ppo, key.seed, run), work.directory);
}

void BehaviorCloneStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress =
      work.StartProgress("clone the logged policy", key.options.fit.steps, "gradient steps");
  const auto bound = [](const std::vector<double>& values) {
    return VectorD(Eigen::Map<const VectorD>(values.data(), std::ssize(values)));
  };
  const BehaviorClone clone =
      CloneBehavior(inputs.log.log, {bound(key.action_low), bound(key.action_high)}, key.options,
                    key.seed, {work.Checkpoints(), work.checkpoint_seconds, progress.get()});
  SaveNetworkPolicy(*clone.policy, work.File(kPolicyFile));
}

void LogStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress("collect the log", key.episodes, "episodes");
  const EpisodeRequest request{.episodes = key.episodes,
                               .horizon = key.horizon,
                               .seed = key.seed,
                               .purpose = "log",
                               .progress = progress.get()};
  SaveLog(CollectEpisodes(inputs.env, *inputs.behavior.policy, request), work.File(kLogFile));
}

void TruthStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress("truth (real environment)", key.episodes, "episodes");
  const EpisodeRequest request{.episodes = key.episodes,
                               .horizon = key.horizon,
                               .seed = key.seed,
                               .purpose = "truth",
                               .progress = progress.get()};
  const MonteCarloEstimate truth =
      MonteCarloValue(inputs.env, *inputs.policy.policy, request, key.discount);
  NpzFile file;
  file.Put("value", std::vector<double>{truth.value});
  file.Put("standard_error", std::vector<double>{truth.standard_error});
  file.Put("episodes", std::vector<std::int64_t>{truth.episodes});
  file.Put("mean_length", std::vector<double>{truth.mean_length});
  file.Write(work.File(kTruthFile));
}

MonteCarloEstimate TruthStage::Read(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kTruthFile));
  return {.value = file.GetDoubles("value").at(0),
          .standard_error = file.GetDoubles("standard_error").at(0),
          .episodes = file.GetIntegers("episodes").at(0),
          .mean_length = file.GetDoubles("mean_length").at(0)};
}

}  // namespace lfiw::experiments
