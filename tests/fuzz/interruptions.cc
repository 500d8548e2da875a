// Interrupts `lfiw evaluate` and `lfiw run` at random moments, the first milliseconds among them,
// by Ctrl-C (SIGINT) and SIGTERM. Each must end with status 130 or 143, without files that are
// half written, and the same command must then end with the results of a run that nothing
// disturbed, byte by byte. Prints a table of how they ended.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "tests/small_logs.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// What is still running then does not heed the signal.
constexpr double kLongestEnd = 60.0;  // seconds
struct Options {
  std::int64_t count = 40;
  std::uint64_t seed = 1;
  std::string dir;
  std::string program = ProgramFile();
};

// How a process ended.
struct End {
  int status = -1;        // -1: by a signal
  int signal = 0;         // that one
  bool hangs = false;     // was killed after kLongestEnd
  double seconds = 0.0;   // it ran
  double response = 0.0;  // seconds from the signal to the end
  bool handles = false;   // either signal runs a handler on the stack of whom it finds
};

// Whether a process has a handler for SIGINT or SIGTERM.
bool HandlesSignals(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;) {
    if (word != "SigCgt:") continue;
    std::uint64_t caught = 0;
    status >> std::hex >> caught;
    return ((caught >> (SIGINT - 1)) & 1U) != 0 || ((caught >> (SIGTERM - 1)) & 1U) != 0;
  }
  return false;
}

// Runs a command; after `delay` seconds, if given, sends it a signal.
End Execute(const std::vector<std::string>& command, const std::string& output,
            std::optional<double> delay = {}, int signal_number = SIGINT) {
  std::vector<const char*> argv;
  for (const std::string& argument : command) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const auto begin = Clock::now();
  const auto since = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    std::signal(SIGINT, SIG_DFL);
    execv(argv[0], const_cast<char**>(argv.data()));
    _exit(127);
  }
  End end;
  double sent = 0.0;
  for (int state = 0;;) {
    if (waitpid(child, &state, WNOHANG) == child) {
      if (WIFEXITED(state)) end.status = WEXITSTATUS(state);
      if (WIFSIGNALED(state)) end.signal = WTERMSIG(state);
      break;
    }
    if (!end.handles) end.handles = HandlesSignals(child);
    if (delay && sent == 0.0 && since() >= *delay) {
      kill(child, signal_number);
      sent = since();
    }
    if (sent > 0.0 && !end.hangs && since() > sent + kLongestEnd) {
      end.hangs = true;
      kill(child, SIGKILL);
    }
    const bool waits_for_moment = delay && sent == 0.0 && *delay - since() < 0.02;
    std::this_thread::sleep_for(std::chrono::microseconds(waits_for_moment ? 100 : 5000));
  }
  end.seconds = since();
  end.response = sent > 0.0 ? end.seconds - sent : 0.0;
  return end;
}

// Files below `folder` that no reader of results expects.
std::vector<std::string> StrayFiles(const std::string& folder) {
  std::vector<std::string> stray;
  if (!fs::exists(folder)) return stray;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || name.find(".tmp") != std::string::npos) stray.push_back(name);
  }
  return stray;
}

// The two commands that are interrupted, with folders of their own for each trial.
class Commands {
 public:
  explicit Commands(const Options& options) : options_(options) {
    Stream stream(options.seed, "interrupted log");
    const LinearSystem system;
    const LinearPolicy behavior;
    LinearPolicy evaluation;
    evaluation.offset.setConstant(0.1);
    data_ =
        WriteTable(Collect(system, behavior, 60, stream), TableFormat::kFlatHdf5, {}, options.dir);
    SavePolicyFile(evaluation, 0, options.dir + "/policy.npz");
  }

  // `run` takes the configuration that an undisturbed `evaluate` has written.
  std::vector<std::string> Of(bool evaluates, const std::string& folder) const {
    std::vector<std::string> command = {options_.program};
    if (evaluates) {
      command.insert(command.end(), {"evaluate", "--data", data_, "--policy",
                                     options_.dir + "/policy.npz", "--horizon", "20"});
    } else {
      command.insert(command.end(), {"run", options_.dir + "/evaluate/out/config.yaml"});
    }
    command.insert(command.end(),
                   {"--out", folder + "/out", "--cache", folder + "/cache", "--threads", "1"});
    if (!evaluates) return command;
    command.insert(
        command.end(),
        {"dynamics.members=2", "dynamics.network.width=32", "dynamics.network.hidden_layers=2",
         "dynamics.fit.steps=400", "dynamics.fit.validate_every=200", "classifiers.instances=2",
         "classifiers.fit.network.width=32", "classifiers.fit.fit.steps=200",
         "classifiers.fit.fit.validate_every=100", "back_test.cloning.network.width=32",
         "back_test.cloning.fit.steps=300", "task.learned.network.width=32",
         "task.learned.fit.steps=300", "support.reference_rows=300", "support.query_rows=200",
         "rollout.repetitions=2", "rollout.episodes=50"});
    return command;
  }

 private:
  Options options_;
  std::string data_;
};

// One line of the table.
struct Count {
  std::int64_t trials = 0, before_start = 0, interrupted = 0, finished = 0, wrong = 0;
  double longest_response = 0.0;
};

// What is wrong about an interrupted run; empty if nothing is. A signal that finds a process whose
// libraries are not loaded ends it before any of its own instructions, without a word or a file.
std::string Fault(const End& end, int signal_number, const std::string& folder,
                  const std::string& said) {
  if (end.hangs) return "it does not end";
  if (end.handles) return "it handles a signal on the stacks of threads that compute";
  const bool unloaded = end.signal == signal_number && said.empty() && !fs::exists(folder + "/out");
  const bool orderly = end.status == 128 + signal_number || end.status == 0;
  if (!orderly && !unloaded) {
    return end.signal > 0 ? fmt::format("it ended by signal {}", end.signal)
                          : fmt::format("its status is {}", end.status);
  }
  const std::vector<std::string> stray = StrayFiles(folder + "/out");
  return stray.empty() ? "" : "it left " + stray.front();
}

class Trials {
 public:
  explicit Trials(const Options& options) : options_(options), commands_(options) {}

  int Run() {
    for (const bool evaluates : {true, false}) {
      const std::string folder = options_.dir + (evaluates ? "/evaluate" : "/run");
      const End end = Execute(commands_.Of(evaluates, folder), options_.dir + "/output");
      if (end.status != 0) {
        fmt::print("the undisturbed run fails: {}\n", ReadFile(options_.dir + "/output"));
        return 1;
      }
      seconds_[evaluates] = end.seconds;
      results_[evaluates] = ReadFile(folder + "/out/results.csv");
    }
    for (std::int64_t i = 0; i < options_.count; ++i) RunOne(i);
    fmt::print("{:<20}{:>8}{:>14}{:>14}{:>10}{:>8}{:>22}\n", "command and signal", "trials",
               "before start", "interrupted", "finished", "wrong", "longest response [s]");
    std::int64_t wrong = 0;
    for (const auto& [name, c] : counts_) {
      fmt::print("{:<20}{:>8}{:>14}{:>14}{:>10}{:>8}{:>22.2f}\n", name, c.trials, c.before_start,
                 c.interrupted, c.finished, c.wrong, c.longest_response);
      wrong += c.wrong;
    }
    return wrong == 0 ? 0 : 1;
  }

 private:
  void RunOne(std::int64_t index) {
    Stream stream(options_.seed, "interruption", {static_cast<std::uint64_t>(index)});
    const bool evaluates = index % 2 == 0;
    const int signal_number = stream.Below(3) == 0 ? SIGTERM : SIGINT;
    // a quarter while the program loads and begins, the others until after its end
    const double delay = stream.Below(4) == 0 ? stream.Uniform(0.0, 0.3)
                                              : stream.Uniform(0.0, 1.05 * seconds_[evaluates]);
    const std::string folder = options_.dir + "/trial";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const std::string output = folder + "/output";
    const std::vector<std::string> command = commands_.Of(evaluates, folder);
    const End end = Execute(command, output, delay, signal_number);
    // a process that is ended at once has not opened it
    const std::string said = fs::exists(output) ? ReadFile(output) : "";
    std::string fault = Fault(end, signal_number, folder, said);
    if (fault.empty()) fault = FaultOfResumed(command, output, folder, results_[evaluates]);
    Count& count = counts_[fmt::format("{}, {}", evaluates ? "evaluate" : "run",
                                       signal_number == SIGINT ? "SIGINT" : "SIGTERM")];
    ++count.trials;
    count.before_start += end.signal > 0 ? 1 : 0;
    count.interrupted += end.status > 0 ? 1 : 0;
    count.finished += end.status == 0 ? 1 : 0;
    count.longest_response = std::max(count.longest_response, end.response);
    if (fault.empty()) return;
    ++count.wrong;
    fmt::print("trial {}, {} after {:.3f} s: {}; it said: {}\n", index, command[1], delay, fault,
               said.substr(said.size() > 300 ? said.size() - 300 : 0));
    std::fflush(stdout);
  }

  static std::string FaultOfResumed(const std::vector<std::string>& command,
                                    const std::string& output, const std::string& folder,
                                    const std::string& results) {
    const End end = Execute(command, output);
    if (end.status != 0) {
      return fmt::format("the same command then ends with {}: {}", end.status, ReadFile(output));
    }
    if (ReadFile(folder + "/out/results.csv") != results) return "its results differ";
    const std::vector<std::string> stray = StrayFiles(folder + "/out");
    return stray.empty() ? "" : "the same command then leaves " + stray.front();
  }

  Options options_;
  Commands commands_;
  std::map<bool, double> seconds_;       // of undisturbed runs, by whether it is `evaluate`
  std::map<bool, std::string> results_;  // their tables
  std::map<std::string, Count> counts_;
};

}  // namespace
}  // namespace lfiw::core

int main(int argc, char** argv) {
  lfiw::core::Options options;
  CLI::App app{"Interrupts evaluations at random moments and lets them go on."};
  app.add_option("--count", options.count, "number of interruptions");
  app.add_option("--seed", options.seed, "root seed");
  app.add_option("--program", options.program, "the lfiw that is run (default: the one built)");
  app.add_option("--dir", options.dir, "directory for the files, made anew")->required();
  CLI11_PARSE(app, argc, argv);
  std::filesystem::remove_all(options.dir);
  std::filesystem::create_directories(options.dir);
  return lfiw::core::Trials(options).Run();
}
