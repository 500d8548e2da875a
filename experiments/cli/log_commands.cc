#include "experiments/cli/log_commands.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/logs/create_log.h"
#include "core/logs/log_audit.h"
#include "core/logs/log_writer.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "core/run/run_directory.h"
#include "envs/env.h"
#include "envs/env_registry.h"
#include "experiments/cli/inspect_report.h"
#include "experiments/evaluation/env_audit.h"

namespace lfiw::experiments {
namespace {

// Numbers held at a time: batches of wide observations have fewer steps.
constexpr std::int64_t kBatchNumbers = 8'000'000;

// The environment named on the command line, or the one that the log states if it is known.
std::shared_ptr<const EnvFactory> ChooseEnv(const std::string& named, const LogInfo& info) {
  if (!named.empty()) return FindEnv(named);
  if (info.environment.empty()) return nullptr;
  try {
    return FindEnv(info.environment);
  } catch (const ConfigError&) {
    return nullptr;
  }
}

AuditReport Audit(const LogArguments& arguments) {
  const std::unique_ptr<LogReader> reader = OpenLog(arguments.path, ReadOptionsFor(arguments));
  LogAuditor auditor;
  const std::shared_ptr<const EnvFactory> env = ChooseEnv(arguments.env, reader->info());
  std::unique_ptr<EnvAuditor> env_auditor;
  if (env) env_auditor = std::make_unique<EnvAuditor>(env);
  for (;;) {
    const EpisodeBatch batch = reader->Next(BatchSteps(reader->info()));
    if (batch.episodes() == 0) break;
    auditor.Add(batch);
    if (env_auditor) env_auditor->Add(batch);
  }
  AuditReport report = auditor.Finish(reader->info(), reader->counts());
  if (env_auditor) env_auditor->Finish(report);
  const std::string used = env ? env->spec().name : "";
  if (const std::string other = VersionConflict(used, report.info.environment); !other.empty()) {
    report.AddFinding(
        Severity::kWarning, "environment_version", other,
        env ? fmt::format("use --env {}", report.info.environment)
            : "the log is held against no environment; reward and end will be learned");
  }
  return report;
}

}  // namespace

std::int64_t BatchSteps(const LogInfo& info) {
  return std::max<std::int64_t>(kBatchNumbers / (info.obs_dim + info.action_dim), 1);
}

LogReadOptions ReadOptionsFor(const LogArguments& arguments) {
  LogReadOptions options{.map = arguments.map, .max_episode_steps = arguments.max_episode_steps};
  if (arguments.env.empty()) return options;
  const std::shared_ptr<const EnvFactory> env = FindEnv(arguments.env);
  if (env->spec().aux_is_forward_velocity())
    options.position_step_seconds = env->spec().step_seconds;
  return options;
}

Outcome Inspect(const InspectCommand& options) {
  const std::string& path = options.log.path;
  const AuditReport report = Audit(options.log);
  Outcome outcome{.text = AuditText(report, path),
                  .object = nlohmann::ordered_json(AuditJson(report, path))};
  if (options.out.empty()) return outcome;
  const RunDirectory directory(options.out);
  directory.Write("report.html", AuditPage(report, path));
  directory.Write(
      "audit.json",
      AuditJson(report, path).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  outcome.text += fmt::format("report: {}\n", directory.File("report.html"));
  return outcome;
}

Outcome Convert(const ConvertCommand& options) {
  const LogFormat format = ChooseLogFormat(options.to, options.out);
  const std::unique_ptr<LogReader> reader = OpenLog(options.log.path, ReadOptionsFor(options.log));
  LogInfo info = reader->info();
  if (!options.log.env.empty()) info.environment = FindEnv(options.log.env)->spec().name;
  const std::unique_ptr<LogWriter> writer = CreateLog(options.out, format, info);
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  for (;;) {
    const EpisodeBatch batch = reader->Next(BatchSteps(info));
    if (batch.episodes() == 0) break;
    writer->Append(batch);
    episodes += batch.episodes();
    steps += batch.steps();
  }
  if (episodes == 0) Throw<DataError>("{}: no episode with a usable step", options.log.path);
  writer->Finish();
  Outcome outcome{.text = fmt::format("{}: {} episodes, {} steps\n", options.out, episodes, steps),
                  .object = {{"log", options.out},
                             {"episodes", episodes},
                             {"steps", steps},
                             {"notes", reader->info().notes}}};
  for (const std::string& note : reader->info().notes) {
    outcome.text += fmt::format("note: {}\n", note);
  }
  return outcome;
}

}  // namespace lfiw::experiments
