#include "experiments/evaluation/model_stages.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>

#include "core/arrays/npz.h"
#include "core/rng.h"
#include "experiments/presentation/fit_history.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kDynamicsFile = "dynamics.npz";
constexpr const char* kMemberFile = "member.npz";
constexpr const char* kNoiseFile = "noise.npz";
constexpr const char* kHistoryFile = "history.npz";
constexpr const char* kReportFile = "report.npz";
constexpr const char* kClassifierFile = "classifier.npz";
constexpr const char* kHeldOutFile = "held_out.npz";
constexpr const char* kFunctionFile = "function.npz";
constexpr const char* kSummaryFile = "summary.npz";

FitRun FitRunOf(const StageWork& work, Progress& progress) {
  return {work.Checkpoints(), work.checkpoint_seconds, &progress};
}

std::string MemberPrefix(std::size_t member) { return fmt::format("member{}_", member); }

void PutNumber(const char* name, double value, NpzFile& file) {
  file.Put(name, std::vector<double>{value});
}

double GetNumber(const NpzFile& file, const char* name) { return file.GetDoubles(name).at(0); }

// Episodes drawn with replacement for one classifier, and those left out.
struct Bootstrap {
  std::vector<std::int64_t> drawn, left_out;
};

Bootstrap DrawBootstrap(const std::vector<std::int64_t>& episodes, std::uint64_t seed,
                        std::uint64_t index) {
  Stream stream(seed, "classifier bootstrap", {index});
  Bootstrap out;
  std::vector<bool> seen(episodes.size(), false);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const auto pick = static_cast<std::size_t>(stream.Below(episodes.size()));
    out.drawn.push_back(episodes[pick]);
    seen[pick] = true;
  }
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    if (!seen[i]) out.left_out.push_back(episodes[i]);
  }
  return out;
}

// Draws an outcome from the model for each of the transitions `real` of the listed episodes, from a
// random member among those that may stand for the model there.
Transitions DrawPartners(const TransitionModel& model, const EpisodeBatch& log,
                         const std::vector<std::int64_t>& episodes, const Transitions& real,
                         Stream stream) {
  Transitions fake;  // the states and actions are those of `real`
  fake.next_states.resize(real.size(), model.obs_dim());
  fake.aux.resize(real.size(), model.aux_dim());
  std::vector<std::int64_t> member;
  for (const std::int64_t e : episodes) {
    const std::vector<std::int64_t> members = model.MembersFor(e);
    for (std::int64_t t = 0; t < log.Outcomes(e); ++t) {
      member.push_back(members[static_cast<std::size_t>(stream.Below(members.size()))]);
    }
  }
  MatrixF noise(real.size(), model.noise_dim());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  model.Sample(real.states, real.actions, member, noise, fake.next_states, fake.aux);
  return fake;
}

// Writes the log-ratios of a classifier on unseen real transitions and on one generated partner of
// each.
void SaveHeldOut(const RatioClassifier& classifier, const DynamicsEnsemble& dynamics,
                 const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                 std::uint64_t seed, std::uint64_t index, const std::string& path) {
  const Transitions real = GatherTransitions(log, episodes);
  const Transitions fake = DrawPartners(dynamics, log, episodes, real,
                                        Stream(seed, "classifier held-out negatives", {index}));
  std::vector<double> real_ratios(static_cast<std::size_t>(real.size()));
  std::vector<double> fake_ratios(real_ratios.size());
  classifier.LogRatios(real.states, real.actions, real.next_states, real.aux, real_ratios);
  classifier.LogRatios(real.states, real.actions, fake.next_states, fake.aux, fake_ratios);
  NpzFile file;
  std::vector<std::int64_t> episode_of_row;
  for (const std::int64_t e : episodes) {
    episode_of_row.insert(episode_of_row.end(), static_cast<std::size_t>(log.Outcomes(e)), e);
  }
  file.Put("real", real_ratios);
  file.Put("generated", fake_ratios);
  file.Put("episodes", episode_of_row);
  file.Write(path);
}

// Puts the members together, or fits them.
DynamicsFit FitOf(const DynamicsStage::Key& key, const DynamicsStage::Inputs& inputs,
                  const StageWork& work) {
  const EpisodeBatch& log = inputs.log.log;
  if (inputs.members.empty()) {
    const auto progress = work.StartProgress(
        "fit dynamics", key.options.members * key.options.fit.steps, "gradient steps");
    return FitDynamics(log, key.episodes, key.options, key.seed, FitRunOf(work, *progress),
                       key.skipped);
  }
  std::vector<DynamicsMember> members;
  for (const Artifact& member : inputs.members)
    members.push_back(DynamicsMemberStage::Read(member));
  return AssembleDynamics(log, key.episodes, key.options, key.seed, std::move(members),
                          key.skipped);
}

void SaveErrors(const LearnedFunctionSummary& summary, FunctionKind kind, const std::string& path) {
  NpzFile file;
  if (kind == FunctionKind::kReward) {
    PutNumber("rmse", summary.rmse, file);
    PutNumber("mean_error", summary.mean_error, file);
    if (summary.r2) PutNumber("r2", *summary.r2, file);
  } else {
    PutNumber("log_loss", summary.log_loss, file);
    file.Put("counts",
             std::vector<std::int64_t>{summary.positives, summary.missed, summary.false_alarms});
  }
  file.Write(path);
}

}  // namespace

void DynamicsMemberStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress(fmt::format("fit dynamics member {}", key.index),
                                           key.options.fit.steps, "gradient steps");
  const DynamicsMember member =
      FitDynamicsMember(inputs.log.log, key.episodes, key.options, key.seed, key.index,
                        FitRunOf(work, *progress), key.skipped);
  const MemberSummary& summary = member.summary;
  NpzFile file;
  file.Put("parameters", member.parameters);
  file.Put("best_step", std::vector<std::int64_t>{summary.fit.best_step});
  PutNumber("best_validation_loss", summary.fit.best_validation_loss, file);
  PutHistory(summary.fit.history, "", file);
  file.Put("episodes",
           std::vector<std::int64_t>{summary.train_episodes, summary.validation_episodes});
  file.Put("r2", summary.r2);
  file.Write(work.File(kMemberFile));
}

DynamicsMember DynamicsMemberStage::Read(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kMemberFile));
  const std::vector<std::int64_t> episodes = file.GetIntegers("episodes");
  DynamicsMember member;
  member.parameters = file.GetVector("parameters");
  member.summary.fit = {.best_step = file.GetIntegers("best_step").at(0),
                        .best_validation_loss = GetNumber(file, "best_validation_loss"),
                        .history = GetHistory(file, "")};
  member.summary.train_episodes = episodes.at(0);
  member.summary.validation_episodes = episodes.at(1);
  member.summary.r2 = file.GetDoubles("r2");
  return member;
}

void DynamicsStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const DynamicsFit fit = FitOf(key, inputs, work);
  Save(fit.ensemble, work);
  NpzFile histories;
  for (std::size_t k = 0; k < fit.summary.members.size(); ++k) {
    PutHistory(fit.summary.members[k].fit.history, MemberPrefix(k), histories);
  }
  histories.Write(work.File(kHistoryFile));
  if (fit.summary.noise) {
    NpzFile noise;
    noise.Put("rows", std::vector<std::int64_t>{fit.summary.noise->rows});
    noise.Put("squared", fit.summary.noise->squared);
    noise.Put("shared", fit.summary.noise->shared);
    noise.Put("counts", fit.summary.noise->counts);
    noise.Write(work.File(kNoiseFile));
  }
}

std::optional<NoiseEvidence> DynamicsStage::Noise(const Artifact& artifact) {
  if (!std::filesystem::exists(artifact.File(kNoiseFile))) return {};
  const NpzFile file = NpzFile::Read(artifact.File(kNoiseFile));
  return NoiseEvidence{.rows = file.GetIntegers("rows").at(0),
                       .squared = file.GetDoubles("squared"),
                       .shared = file.GetDoubles("shared"),
                       .counts = file.GetBytes("counts"),
                       .factor = {}};
}

void DynamicsStage::Save(const DynamicsEnsemble& ensemble, const StageWork& work) {
  ensemble.Save(work.File(kDynamicsFile));
}

DynamicsEnsemble DynamicsStage::Ensemble(const Artifact& artifact) {
  return DynamicsEnsemble::Load(artifact.File(kDynamicsFile));
}

std::vector<FitHistory> DynamicsStage::Histories(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kHistoryFile));
  std::vector<FitHistory> histories;
  for (std::size_t k = 0; file.Has(MemberPrefix(k) + "step"); ++k) {
    histories.push_back(GetHistory(file, MemberPrefix(k)));
  }
  return histories;
}

void DynamicsReportStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const DynamicsErrors errors = OneStepErrors(inputs.ensemble, inputs.log.log, key.episodes);
  NpzFile file;
  file.Put("steps", std::vector<std::int64_t>{errors.steps});
  file.Put("r2", errors.r2);
  if (errors.mixture_nll) PutNumber("nll", *errors.mixture_nll, file);
  file.Put("open_loop", OpenLoopError(inputs.ensemble, inputs.log.log, key.episodes, key.horizon));
  file.Write(work.File(kReportFile));
}

DynamicsReport DynamicsReportStage::Read(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kReportFile));
  DynamicsReport report{.errors = {.steps = file.GetIntegers("steps").at(0),
                                   .r2 = file.GetDoubles("r2"),
                                   .mixture_nll = {}},
                        .open_loop = file.GetDoubles("open_loop")};
  if (file.Has("nll")) report.errors.mixture_nll = GetNumber(file, "nll");
  return report;
}

void ClassifierStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress =
      work.StartProgress("fit classifier", key.options.fit.steps, "gradient steps");
  const auto index = static_cast<std::uint64_t>(key.index);
  const EpisodeBatch& log = inputs.log.log;
  const Bootstrap bootstrap = DrawBootstrap(key.episodes, key.seed, index);
  const ClassifierFit fit = FitClassifier(log, bootstrap.drawn, inputs.ensemble, key.options,
                                          key.seed, key.index, FitRunOf(work, *progress));
  fit.classifier.Save(work.File(kClassifierFile));
  NpzFile history;
  PutHistory(fit.summary.fit.history, "", history);
  history.Write(work.File(kHistoryFile));
  SaveHeldOut(fit.classifier, inputs.ensemble, log, bootstrap.left_out, key.seed, index,
              work.File(kHeldOutFile));
}

RatioClassifier ClassifierStage::Classifier(const Artifact& artifact) {
  return RatioClassifier::Load(artifact.File(kClassifierFile));
}

FitHistory ClassifierStage::History(const Artifact& artifact) {
  return GetHistory(NpzFile::Read(artifact.File(kHistoryFile)), "");
}

HeldOutRatios ReadHeldOut(const Artifact& classifier) {
  const NpzFile file = NpzFile::Read(classifier.File(kHeldOutFile));
  return {file.GetDoubles("real"), file.GetDoubles("generated"), file.GetIntegers("episodes")};
}

void LearnedFunctionStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress =
      work.StartProgress(fmt::format("fit {}", EnumName(key.kind)),
                         key.options.members * key.options.fit.steps, "gradient steps");
  const auto fit_function = key.kind == FunctionKind::kReward ? FitReward : FitTermination;
  const LearnedFunctionFit fit = fit_function(inputs.log.log, key.episodes, key.options, key.seed,
                                              FitRunOf(work, *progress), key.skipped);
  fit.function.Save(work.File(kFunctionFile));
  SaveErrors(fit.summary, key.kind, work.File(kSummaryFile));
}

LearnedFunction LearnedFunctionStage::Function(const Artifact& artifact) {
  return LearnedFunction::Load(artifact.File(kFunctionFile));
}

RewardErrors LearnedFunctionStage::ReadRewardErrors(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kSummaryFile));
  RewardErrors errors{
      .rmse = GetNumber(file, "rmse"), .mean_error = GetNumber(file, "mean_error"), .r2 = {}};
  if (file.Has("r2")) errors.r2 = GetNumber(file, "r2");
  return errors;
}

TerminationErrors LearnedFunctionStage::ReadTerminationErrors(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kSummaryFile));
  const std::vector<std::int64_t> counts = file.GetIntegers("counts");
  return {.log_loss = GetNumber(file, "log_loss"),
          .positives = counts.at(0),
          .missed = counts.at(1),
          .false_alarms = counts.at(2)};
}

}  // namespace lfiw::experiments
