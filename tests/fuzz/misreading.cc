// Makes small logs of systems whose values are known, writes them in every format with a mistake
// in them that users make (rows shifted, flags dropped, cells blank, axes swapped, units mixed),
// and runs `lfiw evaluate`. A mistake must end in the right value, in an error, or in `do not use`;
// a log without one must not be refused. Prints a table of how they ended.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/run/atomic_file.h"
#include "tests/fuzz/misread_outcome.h"
#include "tests/fuzz/situations.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

struct Options {
  std::int64_t misreadings = 100, clean = 100;
  std::uint64_t seed = 1;
  std::string only;  // part of the name of a situation
  std::string dir;
  std::string program = ProgramFile();
  bool keep = false;
};

bool IsChosen(const Options& options, const Situation& situation) {
  return std::string(situation.name).find(options.only) != std::string::npos;
}

int Run(const Options& options) {
  CreateDirectories(options.dir);
  const std::string log = options.dir + "/outcomes.jsonl";
  const std::map<std::string, Outcome> done = ReadOutcomes(log);
  const auto run = [&](std::int64_t index, const Situation* situation) {
    const std::string name = situation != nullptr ? situation->name : "clean";
    const std::string key =
        fmt::format("{} {} {}", situation != nullptr ? "misreading" : "clean", options.seed, index);
    if (const auto found = done.find(key); found != done.end()) return found->second;
    const std::string folder = options.dir + (options.keep ? "/" + key : std::string("/case"));
    const Case c = MakeCase(options.seed, index, situation);
    Outcome outcome =
        RunCase(options.program, c, situation != nullptr ? name : FormatName(c.format), folder);
    std::ofstream(log, std::ios::app) << LineOf(key, outcome);
    if (outcome.end == "wrong" || (situation == nullptr && outcome.end != "right")) {
      fmt::print("{}: {} ({}), true {:.4g}, {} {}: {}\n", key, outcome.situation, outcome.format,
                 outcome.truth, outcome.end, outcome.value, outcome.message);
      std::fflush(stdout);
    }
    return outcome;
  };
  const std::vector<Situation>& situations = Situations();
  std::vector<Outcome> misread, clean;
  for (std::int64_t i = 0; i < options.misreadings; ++i) {
    const Situation& situation = situations[static_cast<std::size_t>(i) % situations.size()];
    if (IsChosen(options, situation)) misread.push_back(run(i, &situation));
  }
  for (std::int64_t i = 0; i < options.clean; ++i) clean.push_back(run(i, nullptr));
  fmt::print("{}\n{}", OutcomeTable(misread, "misreading"),
             OutcomeTable(clean, "log without a mistake"));

  const auto wrong = std::ranges::count(misread, "wrong", &Outcome::end);
  const auto refused = std::ranges::count_if(
      clean, [](const Outcome& o) { return o.end == "error" || o.end == "do not use"; });
  std::int64_t false_errors = 0;
  for (const Outcome& outcome : clean) false_errors += outcome.false_errors;
  fmt::print(
      "{} of {} misreadings end wrong; {} of {} logs without a mistake are refused, {} findings "
      "about them are graded error\n",
      wrong, misread.size(), refused, clean.size(), false_errors);
  return wrong == 0 && 20 * refused <= std::ssize(clean) && false_errors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lfiw::core

int main(int argc, char** argv) {
  lfiw::core::Options options;
  CLI::App app{"Evaluates policies from logs that are misread, and from the same logs unspoiled."};
  app.add_option("--misreadings", options.misreadings, "number of logs with a mistake");
  app.add_option("--clean", options.clean, "number of logs without");
  app.add_option("--seed", options.seed, "root seed");
  app.add_option("--only", options.only, "part of the names of the mistakes that are made");
  app.add_option("--program", options.program, "the lfiw that is run (default: the one built)");
  app.add_flag("--keep", options.keep, "keep the files of every case");
  app.add_option("--dir", options.dir, "directory for the files; a run goes on where it ended")
      ->required();
  bool anew = false;
  app.add_flag("--anew", anew, "delete what an earlier run left in that directory");
  CLI11_PARSE(app, argc, argv);
  if (anew) std::filesystem::remove_all(options.dir);
  return lfiw::core::Run(options);
}
