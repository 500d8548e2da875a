#include "experiments/cli/commands.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/config/config.h"
#include "core/error.h"
#include "core/index_list.h"
#include "core/logs/create_log.h"
#include "core/logs/log_reader.h"
#include "core/logs/open_log.h"
#include "core/parallel.h"
#include "core/run/cache_file_system.h"
#include "core/run/run_directory.h"
#include "core/run/system_info.h"
#include "envs/env.h"
#include "envs/env_registry.h"
#include "experiments/cli/check_policy.h"
#include "experiments/cli/log_commands.h"
#include "experiments/evaluation/report_page.h"
#include "experiments/evaluation/source_stages.h"
#include "experiments/presentation/open_page.h"
#include "experiments/presentation/versions.h"
#include "ope/judgement/bench_metrics.h"
#include "policies/collect.h"
#include "policies/files/policy_file.h"
#include "policies/log_compatibility.h"
#include "policies/mean_policy.h"
#include "policies/policy_check.h"
#include "policies/ppo/ppo.h"

namespace lfiw::experiments {
namespace {

// Steps of the episodes that D4RL's scores are of.
constexpr std::int64_t kD4rlHorizon = 1000;

std::unique_ptr<Policy> LoadPolicyFor(const EnvFactory& env, const std::string& path,
                                      const std::string& contract) {
  std::unique_ptr<Policy> policy = LoadPolicy(path, {.contract = contract});
  CheckFits(*policy, env.spec());
  return policy;
}

// Finds the environment that a command line names, and says which version that is.
std::shared_ptr<const EnvFactory> NamedEnv(const std::string& name) {
  std::shared_ptr<const EnvFactory> env = FindEnv(name);
  if (const std::string note = VersionNote(name); !note.empty()) {
    fmt::print(stderr, "lfiw: note: {}\n", note);
  }
  return env;
}

// Calls use(batch) for pieces of a log that are held in memory one at a time. Throws as LoadLog.
template <class Use>
void StreamLog(const std::string& path, const Use& use) {
  const std::unique_ptr<LogReader> reader = OpenLog(path);
  for (;;) {
    const EpisodeBatch batch = reader->Next(BatchSteps(reader->info()));
    if (batch.episodes() == 0) return;
    ValidateLog(batch, reader->info(), path);
    use(batch);
  }
}

// Replays some episodes of a log, one at a time.
void Replay(const EpisodeBatch& log, PolicyChecker& checker) {
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t length = log.Length(e);
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    const std::vector<std::int64_t> steps = IndexList(length);
    const std::span<const double> stored(log.behavior_log_density);
    checker.Add(
        log.observations.middleRows(log.ObservationRow(e, 0), length), steps,
        log.actions.middleRows(first, length),
        stored.empty() ? stored : stored.subspan(static_cast<std::size_t>(first), steps.size()));
  }
}

// The bounds that actions were clipped to: the environment's, or what the log shows.
ActionBounds BoundsFor(const CheckPolicyCommand& options, const Policy& policy) {
  if (!options.env.empty()) {
    const EnvSpec spec = FindEnv(options.env)->spec();
    CheckFits(policy, spec);
    return {spec.action_low, spec.action_high};
  }
  ActionRange range;
  StreamLog(options.data, [&](const EpisodeBatch& batch) {
    CheckFits(policy, batch, options.data);
    range.Add(batch.actions);
  });
  return range.Bounds();
}

}  // namespace

void WarnIfSlow() {
  for (const std::string& warning : SpeedWarnings(QuerySystem(), MeasureProductSpeed())) {
    fmt::print(stderr, "lfiw: WARNING: {}\n", warning);
  }
}

Outcome Truth(const TruthCommand& options, const CommonOptions& common) {
  const std::shared_ptr<const EnvFactory> env = NamedEnv(options.env);
  std::unique_ptr<Policy> policy = LoadPolicyFor(*env, options.policy, options.contract);
  if (options.mean) policy = std::make_unique<MeanPolicy>(std::move(policy));
  TerminalProgress progress("truth (real environment)", options.episodes, "episodes",
                            common.verbosity);
  const EpisodeRequest request{.episodes = options.episodes,
                               .horizon = options.horizon,
                               .seed = options.seed,
                               .purpose = "truth",
                               .progress = &progress};
  const MonteCarloEstimate truth = MonteCarloValue(*env, *policy, request, options.discount);
  Outcome outcome;
  outcome.text = fmt::format(
      "{} {}: value {:.4f} +- {:.4f} (standard error, {} episodes, mean length {:.1f}, "
      "horizon {}, discount {})\n",
      env->spec().name, options.policy, truth.value, truth.standard_error, truth.episodes,
      truth.mean_length, options.horizon, options.discount);
  outcome.object = {{"environment", env->spec().name},
                    {"policy", options.policy},
                    {"value", truth.value},
                    {"stderr", truth.standard_error},
                    {"episodes", truth.episodes},
                    {"mean_length", truth.mean_length},
                    {"horizon", options.horizon},
                    {"discount", options.discount}};
  if (const auto reference = D4rlReturns(env->spec().name);
      reference && options.horizon == kD4rlHorizon && options.discount == 1.0) {
    const double score = NormalizedScore(truth.value, *reference);
    outcome.text += fmt::format("D4RL's normalized score {:.4f} (0: random, 1: expert)\n", score);
    outcome.object["d4rl_normalized_score"] = score;
  }
  return outcome;
}

Outcome Train(const TrainCommand& options, const CommonOptions& common) {
  WarnIfSlow();
  const std::shared_ptr<const EnvFactory> env = NamedEnv(options.env);
  const auto ppo = LoadConfig<PpoOptions>("", options.overrides);
  const RunDirectory directory(options.out);
  TerminalProgress progress("train policy (PPO)", ppo.total_steps, "steps", common.verbosity);
  const PpoRun run{.checkpoint = directory.File("checkpoint.npz"), .progress = &progress};
  SavePpoResult(TrainPpo(*env, ppo, options.seed, run), directory.path());
  std::filesystem::remove(run.checkpoint);
  const std::string file = directory.File("policy.npz");
  return {.text = fmt::format("policy: {}\n", file),
          .object = {{"policy", file}, {"directory", directory.path()}}};
}

Outcome Collect(const CollectCommand& options, const CommonOptions& common) {
  const LogFormat format = ChooseLogFormat(options.format, options.out);
  const std::shared_ptr<const EnvFactory> env = NamedEnv(options.env);
  const std::unique_ptr<Policy> policy = LoadPolicyFor(*env, options.policy, options.contract);
  TerminalProgress progress("collect the log", options.episodes, "episodes", common.verbosity);
  const EpisodeRequest request{.episodes = options.episodes,
                               .horizon = options.horizon,
                               .seed = options.seed,
                               .purpose = "log",
                               .progress = &progress};
  const auto writer = CreateLog(options.out, format, {.environment = env->spec().name});
  const EpisodeBatch log = CollectEpisodes(*env, *policy, request);
  writer->Append(log);
  writer->Finish();
  return {
      .text = fmt::format("{}: {} episodes, {} steps\n", options.out, log.episodes(), log.steps()),
      .object = {{"log", options.out},
                 {"environment", env->spec().name},
                 {"episodes", log.episodes()},
                 {"steps", log.steps()}}};
}

Outcome CheckPolicy(const CheckPolicyCommand& options) {
  const std::unique_ptr<Policy> policy = LoadPolicy(options.policy, {.contract = options.contract});
  const ActionBounds bounds = BoundsFor(options, *policy);
  std::optional<PolicyChecker> checker;
  double rate = 0.0;
  StreamLog(options.data, [&](const EpisodeBatch& batch) {
    CheckFits(*policy, batch, options.data);
    if (!checker) {
      checker.emplace(*policy, bounds);
      rate = MeasureActionRate(*policy, batch.observations);
    }
    Replay(batch, *checker);
  });
  if (!checker) Throw<DataError>("{}: no episodes, expected at least one", options.data);
  const PolicyReport report{.policy = *policy,
                            .policy_path = options.policy,
                            .data_path = options.data,
                            .bounds = bounds,
                            .bounds_from = options.env.empty() ? "the log" : options.env,
                            .check = checker->Result(),
                            .actions_per_second = rate};
  return {.text = PolicyReportText(report),
          .object = nlohmann::ordered_json(PolicyReportJson(report))};
}

Outcome Report(const ReportCommand& command) {
  WriteReport(command.directory);
  const std::string page = command.directory + "/report.html";
  if (command.open) OpenPage(page);
  return {.text = fmt::format("report: {}\n", page),
          .object = {{"directory", command.directory}, {"report", page}}};
}

Outcome Doctor() {
  const SystemInfo info = QuerySystem();
  const ProductSpeed speed = MeasureProductSpeed();
  std::string text = fmt::format("lfiw      {} {}\n", info.version, info.revision);
  text += fmt::format("compiler  {}\n", info.compiler);
  text += fmt::format("CPU       {}, {} cores, {} threads in use\n", info.cpu_model, info.cores,
                      Threads());
  text += fmt::format("BLAS      {}\nLAPACK    {}\nOpenBLAS  {}\n", info.blas_library,
                      info.lapack_library, info.openblas_config);
  text += fmt::format("products  {}\n", info.products);
  text += fmt::format(
      "speed     {:.0f} of {:.0f} GFLOP/s that one core can do: {:.0f} % (500x500x128, float)\n",
      speed.product, speed.peak, 100.0 * speed.Share());
  const auto versions = LibraryVersions();
  for (const auto& [name, version] : versions) text += fmt::format("{:<9} {}\n", name, version);
  const std::vector<std::string> warnings = SpeedWarnings(info, speed);
  for (const std::string& warning : warnings) text += fmt::format("WARNING   {}\n", warning);
  return {.text = text,
          .object = {{"version", info.version},
                     {"revision", info.revision},
                     {"compiler", info.compiler},
                     {"cpu", info.cpu_model},
                     {"cores", info.cores},
                     {"threads", Threads()},
                     {"blas", info.blas_library},
                     {"lapack", info.lapack_library},
                     {"openblas", info.openblas_config},
                     {"products", info.products},
                     {"gflops", speed.product},
                     {"peak_gflops", speed.peak},
                     {"libraries", versions},
                     {"warnings", warnings}}};
}

Outcome DoctorOfCache(const std::string& folder) {
  Outcome outcome;
  outcome.object["checks"] = nlohmann::ordered_json::array();
  for (const FileSystemCheck& check : CheckCacheFolder(folder)) {
    outcome.text +=
        fmt::format("{:<12} {:<7} {}\n", check.name, check.passed ? "ok" : "FAILED", check.detail);
    outcome.object["checks"].push_back(
        {{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
    if (!check.passed) outcome.status = 2;
  }
  return outcome;
}

std::string VersionText() {
  std::string text = "lfiw " + QuerySystem().version;
  for (const auto& [name, version] : LibraryVersions())
    text += fmt::format(", {} {}", name, version);
  return text;
}

}  // namespace lfiw::experiments
