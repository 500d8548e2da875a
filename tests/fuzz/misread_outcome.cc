#include "tests/fuzz/misread_outcome.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/evaluated_log.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string AnswerText(const EvaluatedLog& answer) {
  if (!answer.value) return "";
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", *answer.value, answer.low.value_or(NAN),
                     answer.high.value_or(NAN));
}

}  // namespace

Outcome RunCase(const std::string& program, const Case& c, const std::string& situation,
                const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string data = WriteTable(c.table, c.format, c.names, folder);
  if (c.spoil) c.spoil(data);
  const std::string policy = folder + "/policy.npz";
  SavePolicyFile(c.policy, c.world.system.discrete, policy);
  const EvaluatedLog answer = EvaluateLog(program, data, policy, c.world.system.horizon, folder);
  Outcome outcome{.situation = situation,
                  .format = FormatName(c.format),
                  .truth = c.world.truth,
                  .value = AnswerText(answer),
                  .message = answer.reason + answer.error,
                  .false_errors = std::ssize(answer.audit_errors)};
  if (answer.status != 0) {
    const bool says_why = !answer.error.empty() && (answer.status == 1 || answer.status == 2);
    outcome.end = says_why ? "error" : "wrong";
    outcome.message = fmt::format("exit {}: {}", answer.status, outcome.message);
  } else if (answer.is_refused() || !answer.value) {
    outcome.end = "do not use";
  } else if (!IsNear(answer, c.world.truth, c.world.size)) {
    outcome.end = "wrong";
    outcome.message = answer.verdict + ": " + answer.reason;
  } else {
    outcome.end = answer.verdict == "caution" ? "caution" : "right";
  }
  return outcome;
}

std::string LineOf(const std::string& key, const Outcome& o) {
  return json({{"key", key},
               {"situation", o.situation},
               {"format", o.format},
               {"end", o.end},
               {"truth", o.truth},
               {"value", o.value},
               {"message", o.message},
               {"false_errors", o.false_errors}})
             .dump() +
         "\n";
}

std::map<std::string, Outcome> ReadOutcomes(const std::string& path) {
  std::map<std::string, Outcome> done;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json in = json::parse(line, nullptr, false);
    if (in.is_discarded()) continue;  // cut off by a kill
    done[in["key"]] = {.situation = in["situation"],
                       .format = in["format"],
                       .end = in["end"],
                       .truth = in["truth"],
                       .value = in["value"],
                       .message = in["message"],
                       .false_errors = in["false_errors"]};
  }
  return done;
}

std::string OutcomeTable(const std::vector<Outcome>& outcomes, const std::string& title) {
  constexpr std::array kEnds = {"right", "caution", "error", "do not use", "wrong"};
  std::vector<std::string> names;
  std::map<std::string, std::map<std::string, std::int64_t>> counts;
  for (const Outcome& outcome : outcomes) {
    if (!counts.contains(outcome.situation)) names.push_back(outcome.situation);
    ++counts[outcome.situation][outcome.end];
    ++counts["all"][outcome.end];
  }
  names.emplace_back("all");
  std::string text = fmt::format("{:<36}{:>5}", title, "n");
  for (const char* end : kEnds) text += fmt::format("{:>12}", end);
  for (const std::string& name : names) {
    std::int64_t n = 0;
    std::string cells;
    for (const char* end : kEnds) {
      n += counts[name][end];
      cells += fmt::format("{:>12}", counts[name][end]);
    }
    text += fmt::format("\n{:<36}{:>5}{}", name, n, cells);
  }
  return text + "\n";
}

}  // namespace lfiw::core
