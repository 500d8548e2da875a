#include "tests/evaluated_log.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/run/atomic_file.h"

namespace lfiw {
namespace {

using nlohmann::json;

int RunProgram(const std::string& program, const std::vector<std::string>& arguments,
               const std::string& output) {
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execv(program.c_str(), const_cast<char**>(argv.data()));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::optional<double> NumberOf(const json& in) {
  return in.is_number() ? std::optional(in.get<double>()) : std::nullopt;
}

void ReadReport(const json& report, EvaluatedLog& out) {
  for (const std::string note : report.at("notes")) {
    if (note.starts_with("Audit of the log, error")) out.audit_errors.push_back(note);
  }
  const json& row = report.at("rows").at(report.at("headline").get<std::size_t>());
  out.value = NumberOf(row.at("value"));
  out.low = NumberOf(row.at("ci_low"));
  out.high = NumberOf(row.at("ci_high"));
  out.verdict = report.at("verdict").at("level");
  for (const std::string reason : report.at("verdict").at("reasons")) out.reason += reason;
  if (report.contains("behavior_value")) out.logged = NumberOf(report["behavior_value"]["value"]);
}

}  // namespace

EvaluatedLog EvaluateLog(const std::string& program, const std::string& data,
                         const std::string& policy, std::int64_t horizon,
                         const std::string& folder) {
  const std::vector<std::string> arguments = {"evaluate",
                                              "--data",
                                              data,
                                              "--policy",
                                              policy,
                                              "--out",
                                              folder + "/out",
                                              "--cache",
                                              folder + "/cache",
                                              "--threads",
                                              "1",
                                              "--horizon",
                                              std::to_string(horizon),
                                              "dynamics.members=3",
                                              "dynamics.network.width=48",
                                              "dynamics.network.hidden_layers=2",
                                              "dynamics.fit.steps=2000",
                                              "dynamics.fit.batch=128",
                                              "dynamics.fit.validate_every=500",
                                              "classifiers.instances=3",
                                              "classifiers.fit.network.width=48",
                                              "classifiers.fit.network.hidden_layers=2",
                                              "classifiers.fit.fit.steps=500",
                                              "classifiers.fit.fit.validate_every=250",
                                              "back_test.cloning.network.width=32",
                                              "back_test.cloning.fit.steps=1000",
                                              "task.learned.network.width=48",
                                              "task.learned.fit.steps=1500",
                                              "support.reference_rows=1000",
                                              "support.query_rows=500",
                                              "rollout.repetitions=5",
                                              "rollout.episodes=100"};
  EvaluatedLog out;
  out.status = RunProgram(program, arguments, folder + "/output");
  out.output = core::ReadFile(folder + "/output");
  if (out.status == 0) {
    ReadReport(json::parse(core::ReadFile(folder + "/out/report.json")), out);
  } else if (const std::size_t at = out.output.rfind("lfiw: "); at != std::string::npos) {
    out.error = out.output.substr(at, out.output.find('\n', at) - at);
  }
  return out;
}

bool IsNear(const EvaluatedLog& answer, double truth, double size) {
  if (!answer.value) return false;
  const bool covered = answer.low && answer.high && *answer.low <= truth && truth <= *answer.high;
  return std::abs(*answer.value - truth) <= (covered ? 0.2 : 0.1) * size;
}

}  // namespace lfiw
