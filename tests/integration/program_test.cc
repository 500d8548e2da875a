// The program as a user meets it: real runs of small experiments, killed and resumed, and every
// kind of wrong input.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/run/atomic_file.h"
#include "core/run/result_table.h"
#include "tests/core/run/read_results.h"
#include "tests/core/test_dir.h"
#include "tests/models/torch_function.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int status = -1;  // exit status; -1 when killed
  std::string output;
};

// One run of the program in a child process, its output in a file.
class Child {
 public:
  // `file_limit` in bytes stands for a full disk.
  Child(const std::vector<std::string>& arguments, std::string output,
        std::optional<rlim_t> file_limit = {})
      : output_(std::move(output)) {
    const std::string program = ProgramFile();
    std::vector<const char*> argv = {program.c_str()};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    if (file_limit) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{*file_limit, *file_limit};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    execv(program.c_str(), const_cast<char**>(argv.data()));
    _exit(127);
  }

  void Kill(int signal_number) const { kill(pid_, signal_number); }
  bool Running() {
    if (!done_) done_ = waitpid(pid_, &wait_status_, WNOHANG) == pid_;
    return !done_;
  }
  Outcome Wait() {
    if (!done_) waitpid(pid_, &wait_status_, 0);
    done_ = true;
    return {WIFEXITED(wait_status_) ? WEXITSTATUS(wait_status_) : -1, ReadFile(output_)};
  }

 private:
  std::string output_;
  pid_t pid_ = 0;
  int wait_status_ = 0;
  bool done_ = false;
};

// A small but complete experiment: PPO, log, dynamics, classifiers, rollouts, truth.
constexpr const char* kConfig = R"(name: small
checkpoint_seconds: 0
environment: Swimmer
value: {horizon: 20}
policies:
  behavior_steps: 1024
  evaluation_steps: 2048
  ppo: {rollout_steps: 512, minibatches: 4}
log: {episodes: 40}
dynamics:
  members: 2
  network: {width: 32, hidden_layers: 2}
  fit: {steps: 400, batch: 64, validate_every: 100}
classifiers:
  instances: 3
  fit:
    network: {width: 32, hidden_layers: 2}
    fit: {steps: 200, batch: 64, validate_every: 50}
rollout: {repetitions: 3, episodes: 20}
estimators: {horizons: [5, 20]}
truth: {episodes: 20}
)";

class Program : public ::testing::Test {
 protected:
  Program() { std::ofstream(config()) << kConfig; }

  std::string config() const { return dir_ / "small.yaml"; }
  Outcome Lfiw(const std::vector<std::string>& arguments, std::optional<rlim_t> limit = {}) const {
    return Child(arguments, dir_ / "output.txt", limit).Wait();
  }
  std::vector<std::string> RunArguments(const std::string& name,
                                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run",       config(),  "--out",
                                          dir_ / name, "--cache", dir_ / (name + "_cache")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string Results(const std::string& name) const {
    return ReadFile(dir_ / (name + "/results.csv"));
  }
  // Expects exit 2 and a single line that holds every text; nothing else may be said but that the
  // machine is slow, which depends on what else it does.
  void ExpectRefused(const Outcome& outcome, const std::vector<std::string>& texts) const {
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    std::istringstream lines(outcome.output);
    std::int64_t said = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("lfiw: WARNING: matrix products")) ++said;
    }
    EXPECT_EQ(said, 1) << outcome.output;
    for (const std::string& text : texts) EXPECT_THAT(outcome.output, HasSubstr(text));
  }

  TestDir dir_;
};

TEST_F(Program, RunWritesTheWholeRunDirectory) {
  const Outcome outcome = Lfiw(RunArguments("run"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const char* file : {"config.yaml", "manifest.json", "results.csv", "results.json",
                           "report.json", "report.html", "metrics.jsonl"}) {
    EXPECT_TRUE(std::filesystem::exists(dir_ / (std::string("run/") + file))) << file;
  }
  const std::vector<ResultRow> rows = ReadResults(dir_ / "run/results.csv");
  // the model, and three variants at H = 0 .. 20
  ASSERT_EQ(rows.size(), 1u + 3u * 21u);
  for (const ResultRow& row : rows) {
    EXPECT_TRUE(row.value.has_value());
    EXPECT_NEAR(*row.error, *row.value - *row.truth, 1e-12);
    if (row.horizon == 0) {
      EXPECT_EQ(*row.value, *rows[0].value);
    }
  }
  EXPECT_THAT(outcome.output, HasSubstr("report.html"));
}

TEST_F(Program, ResolvedConfigurationRunsAgainToTheSameResults) {
  ASSERT_EQ(Lfiw(RunArguments("run")).status, 0);
  const Outcome again = Lfiw(
      {"run", dir_ / "run/config.yaml", "--out", dir_ / "again", "--cache", dir_ / "run_cache"});
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(Results("run"), Results("again"));
}

TEST_F(Program, OneAndTwoThreadsGiveTheSameBytes) {
  ASSERT_EQ(Lfiw(RunArguments("one", {"--threads", "1"})).status, 0);
  ASSERT_EQ(Lfiw(RunArguments("two", {"--threads", "2"})).status, 0);
  EXPECT_EQ(Results("one"), Results("two"));
}

TEST_F(Program, ProcessesOfTheSameCommandShareItsWork) {
  ASSERT_EQ(Lfiw(RunArguments("alone", {"--threads", "1"})).status, 0);
  std::vector<std::string> arguments = RunArguments("shared", {"--threads", "1"});
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>(arguments, dir_ / fmt::format("output_{}.txt", i)));
  }
  // one of them dies in the midst of it
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  children.back()->Kill(SIGKILL);
  children.back()->Wait();
  children.pop_back();
  for (const auto& child : children) {
    const Outcome outcome = child->Wait();
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  EXPECT_EQ(Results("alone"), Results("shared"));
  // every entry of the cache is whole, and no run left half a file
  arguments = {"cache", "verify", "--cache", dir_ / "shared_cache"};
  EXPECT_EQ(Lfiw(arguments).status, 0);
  std::int64_t half = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_ / "shared")) {
    // a process that is killed while it writes leaves what the next of its host removes
    half += entry.path().filename().string().ends_with(".tmp") ? 1 : 0;
  }
  EXPECT_LE(half, 1);
}

TEST_F(Program, AWorkerMakesTheStagesAndLeavesTheResultsToAnother) {
  ASSERT_EQ(Lfiw(RunArguments("alone")).status, 0);
  const Outcome worker = Lfiw(RunArguments("run", {"--work-only"}));
  ASSERT_EQ(worker.status, 0) << worker.output;
  EXPECT_THAT(worker.output, HasSubstr("all stages are made"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run"));
  ASSERT_EQ(Lfiw(RunArguments("run")).status, 0);
  const auto manifest = nlohmann::json::parse(ReadFile(dir_ / "run/manifest.json"));
  for (const auto& stage : manifest["stages"]) EXPECT_EQ(stage["outcome"], "reused") << stage;
  EXPECT_EQ(Results("alone"), Results("run"));
}

TEST_F(Program, AListOfStagesNamesThemBeforeAndAfterARun) {
  const auto list = [&] {
    const Outcome outcome = Lfiw(RunArguments("run", {"--stages", "--json"}));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output.substr(outcome.output.find('{')))["stages"];
  };
  const auto before = list();
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run_cache"));
  ASSERT_EQ(Lfiw(RunArguments("run")).status, 0);
  const auto after = list();
  EXPECT_EQ(before.size(), after.size());
  for (const auto& stage : before) EXPECT_EQ(stage["state"], "to do") << stage;
  for (const auto& stage : after) {
    EXPECT_EQ(stage["state"], "done") << stage;
    EXPECT_TRUE(stage["cpu_seconds"].is_number()) << stage;
  }
}

TEST_F(Program, WithoutSlurmALauncherSaysHowToGetIt) {
  setenv("LFIW_TEST_PATH", getenv("PATH"), 1);
  setenv("PATH", (dir_ / "nothing").c_str(), 1);
  const Outcome outcome = Lfiw(RunArguments("sweep", {"-m", "seed=0,1", "--launcher", "slurm"}));
  setenv("PATH", getenv("LFIW_TEST_PATH"), 1);
  ExpectRefused(outcome, {"no sbatch on PATH", "slurm-wlm"});
}

TEST_F(Program, OtherHorizonsAndEstimatorsTrainNothing) {
  ASSERT_EQ(Lfiw(RunArguments("run")).status, 0);
  const Outcome more = Lfiw({"run", config(), "estimators.horizons=[1,2,3]",
                             "estimators.alphas=[1,0.5]", "estimators.variants=[stepwise_batch]",
                             "--out", dir_ / "more", "--cache", dir_ / "run_cache"});
  ASSERT_EQ(more.status, 0) << more.output;
  const auto manifest = nlohmann::json::parse(ReadFile(dir_ / "more/manifest.json"));
  ASSERT_FALSE(manifest["stages"].empty());
  for (const auto& stage : manifest["stages"]) EXPECT_EQ(stage["outcome"], "reused") << stage;
}

TEST_F(Program, CrossFittingAndBootstrapsOfTheWholePipelineRun) {
  const Outcome outcome =
      Lfiw(RunArguments("run", {"log.cross_fit=2", "intervals.pipeline_replicates=2",
                                "intervals.classifier_replicates=2", "back_test.enabled=false"}));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const std::vector<ResultRow> rows = ReadResults(dir_ / "run/results.csv");
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const ResultRow& row) {
    return row.interval_method == "pipeline_bootstrap";
  }));
  ExpectRefused(Lfiw(RunArguments("other", {"log.cross_fit=1"})), {"log.cross_fit", "1", "2"});
}

TEST_F(Program, KilledAgainAndAgainItEndsWithTheSameBytes) {
  ASSERT_EQ(Lfiw(RunArguments("undisturbed")).status, 0);
  // kills after ever longer times, until a run gets through
  int kills = 0;
  for (int milliseconds = 100;; milliseconds += 100) {
    Child child(RunArguments("killed"), dir_ / "output.txt");
    for (int waited = 0; waited < milliseconds && child.Running(); waited += 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!child.Running()) {
      ASSERT_EQ(child.Wait().status, 0);
      break;
    }
    child.Kill(SIGKILL);
    child.Wait();
    ++kills;
  }
  EXPECT_GE(kills, 2);
  EXPECT_EQ(Results("killed"), Results("undisturbed"));
}

TEST_F(Program, InterruptLeavesAResumableRun) {
  Child child(RunArguments("run", {"policies.evaluation_steps=200000"}), dir_ / "output.txt");
  // once the cache holds the first stage's folder, training has begun
  while (child.Running() && !std::filesystem::exists(dir_ / "run_cache")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  child.Kill(SIGINT);
  const Outcome outcome = child.Wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_THAT(outcome.output, HasSubstr("the same command goes on"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run/results.csv"));
}

TEST_F(Program, EveryWrongFieldIsToldWithItsPlace) {
  std::ofstream(config()) << "environment: Swimmer\nvalue: {horizn: 20}\ndynamics: {members: 0}\n";
  const Outcome outcome = Lfiw(RunArguments("run"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("small.yaml:2"), HasSubstr("value.horizn"), HasSubstr("horizon"),
                    HasSubstr("small.yaml:3"), HasSubstr("dynamics.members")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run"));
}

TEST_F(Program, WrongInputIsRefusedInOneLine) {
  ExpectRefused(Lfiw({"run", dir_ / "none.yaml"}), {"none.yaml"});
  ExpectRefused(Lfiw(RunArguments("run", {"environment=Swimer"})), {"Swimer", "Swimmer"});
  ExpectRefused(Lfiw(RunArguments("run", {"estimators.horizons=[30]"})), {"horizons", "30", "20"});
  ExpectRefused(
      Lfiw(RunArguments("run", {"policies.pair=files", "policies.evaluation_files=[new.npz]"})),
      {"behavior_file"});
  ExpectRefused(Lfiw(RunArguments("run", {"log.file=" + (dir_ / "none.npz")})), {"none.npz"});
  EXPECT_EQ(Lfiw({"run"}).status, 2);
  EXPECT_EQ(Lfiw({"no-such-verb"}).status, 2);
}

TEST_F(Program, WrongLogsAreRefusedInOneLine) {
  ASSERT_EQ(Lfiw({"train", "--env", "Swimmer", "--out", dir_ / "trained", "total_steps=512",
                  "rollout_steps=512", "minibatches=4"})
                .status,
            0);
  ASSERT_EQ(Lfiw({"collect", "--env", "Swimmer", "--policy", dir_ / "trained/policy.npz",
                  "--episodes", "20", "--horizon", "20", "--out", dir_ / "log.npz"})
                .status,
            0);
  NpzFile log = NpzFile::Read(dir_ / "log.npz");
  MatrixF observations = log.GetMatrix("observations");
  observations(25, 3) = std::nanf("");
  log.Put("observations", observations);
  log.Write(dir_ / "nan.npz");
  ExpectRefused(Lfiw(RunArguments("run", {"log.file=" + (dir_ / "nan.npz")})),
                {"nan.npz", "episode 1, step 4", "observation[3]"});
  log.Put("observations", MatrixF(observations.leftCols(7)));
  log.Write(dir_ / "narrow.npz");
  ExpectRefused(Lfiw(RunArguments("run", {"log.file=" + (dir_ / "narrow.npz")})), {"narrow.npz"});
}

TEST_F(Program, ARunWithoutAnyNumberEndsWithStatus1AndOneLine) {
  const Outcome outcome = Lfiw(RunArguments("run", {"dynamics.fit.adam.learning_rate=1e30"}));
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("lfiw: dynamics member"), HasSubstr("at step")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run/results.csv"));
}

TEST_F(Program, UnwritableDirectoryIsRefusedInOneLine) {
  // a path under a regular file cannot be created, whoever runs the test
  std::ofstream(dir_ / "file") << "x";
  ExpectRefused(Lfiw({"run", config(), "--out", dir_ / "file/run"}), {"file/run"});
  ExpectRefused(Lfiw({"run", config(), "--out", dir_ / "run", "--cache", dir_ / "file/cache"}),
                {"file/cache"});
}

TEST_F(Program, FullDiskIsRefusedAndLeavesNoResults) {
  const Outcome outcome = Lfiw(RunArguments("run"), 4096);
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run/results.csv"));
  // with room again, the same command ends as if nothing had happened
  const Outcome again = Lfiw(RunArguments("run"));
  EXPECT_EQ(again.status, 0) << again.output;
}

TEST_F(Program, MultirunRunsTheProduct) {
  ASSERT_EQ(Lfiw({"run", config(), "-m", "seed=range(0,2)", "--out", dir_ / "sweep", "--cache",
                  dir_ / "cache"})
                .status,
            0);
  EXPECT_TRUE(std::filesystem::exists(dir_ / "sweep/0/results.csv"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "sweep/1/results.csv"));
  EXPECT_NE(Results("sweep/0"), Results("sweep/1"));
}

TEST_F(Program, TruthEvaluatesATrainedPolicy) {
  ASSERT_EQ(Lfiw({"train", "--env", "swimmer-v4", "--out", dir_ / "trained", "total_steps=512",
                  "rollout_steps=512", "minibatches=4"})
                .status,
            0);
  const Outcome outcome = Lfiw({"truth", "--env", "Swimmer", "--policy",
                                dir_ / "trained/policy.npz", "--horizon", "50", "--episodes", "4"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("4 episodes"));
  ExpectRefused(Lfiw({"truth", "--env", "HalfCheetah", "--policy", dir_ / "trained/policy.npz"}),
                {"HalfCheetah", "17", "8"});
}

TEST_F(Program, CheckPolicyFindsThatALogsOwnPolicyHasItsDensities) {
  const std::string policy = dir_ / "trained/policy.npz";
  ASSERT_EQ(Lfiw({"train", "--env", "Swimmer", "--out", dir_ / "trained", "total_steps=512",
                  "rollout_steps=512", "minibatches=4"})
                .status,
            0);
  ASSERT_EQ(Lfiw({"collect", "--env", "Swimmer", "--policy", policy, "--episodes", "5", "--horizon",
                  "40", "--out", dir_ / "log.npz"})
                .status,
            0);
  const Outcome outcome =
      Lfiw({"check-policy", policy, "--data", dir_ / "log.npz", "--env", "Swimmer", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto report = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(report["steps"], 200);
  EXPECT_EQ(report["stored_log_density"]["max_absolute_error"], 0.0);
  EXPECT_THAT(Lfiw({"check-policy", policy, "--data", dir_ / "log.npz"}).output,
              AllOf(HasSubstr("8 observations -> 2 actions"), HasSubstr("actions/s")));
  ExpectRefused(Lfiw({"check-policy", dir_ / "log.npz", "--data", dir_ / "log.npz"}),
                {"log.npz", "it is a log"});
}

TEST_F(Program, DryRunPrintsWhatItWouldRunAndWritesNothing) {
  const Outcome outcome = Lfiw(RunArguments("run", {"--dry-run"}));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("members: 2"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run"));
}

TEST_F(Program, HelpOfEveryVerbHasAnExample) {
  for (const char* verb : {"run", "evaluate", "truth", "train", "collect", "inspect", "convert",
                           "check-policy", "report", "doctor"}) {
    const Outcome outcome = Lfiw({verb, "--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.output, HasSubstr("Example"));
  }
  EXPECT_THAT(Lfiw({"doctor"}).output, HasSubstr("GFLOP/s"));
}

TEST_F(Program, LogsAreConvertedAndInspectedInEveryFormat) {
  ASSERT_EQ(Lfiw({"train", "--env", "Swimmer", "--out", dir_ / "trained", "total_steps=1024",
                  "rollout_steps=512", "minibatches=4"})
                .status,
            0);
  ASSERT_EQ(Lfiw({"collect", "--env", "Swimmer", "--policy", dir_ / "trained/policy.npz",
                  "--episodes", "25", "--horizon", "20", "--out", dir_ / "log.hdf5"})
                .status,
            0);
  const std::string log = dir_ / "log.hdf5";
  for (const char* name : {"a.npz", "a.csv", "a.h5", "a-v0"}) {
    ASSERT_EQ(Lfiw({"convert", log, dir_ / name}).status, 0);
    const Outcome outcome = Lfiw({"inspect", dir_ / name, "--env", "Swimmer", "--json"});
    EXPECT_EQ(outcome.status, 0);
    const auto audit = nlohmann::json::parse(outcome.output);
    EXPECT_EQ(audit["steps"], 500);
    // all that is found is that the rewards are right
    ASSERT_EQ(audit["findings"].size(), 1U) << outcome.output;
    EXPECT_EQ(audit["findings"][0]["code"], "reward_agrees");
  }
  ASSERT_EQ(Lfiw({"inspect", log, "--out", dir_ / "audit"}).status, 0);
  EXPECT_THAT(ReadFile(dir_ / "audit/report.html"), HasSubstr("Audit of"));
  ExpectRefused(Lfiw({"convert", log, dir_ / "a.xyz"}), {"a.xyz", "npz, d4rl, minari, csv"});
  ExpectRefused(Lfiw({"convert", dir_ / "absent", dir_ / "b.npz"}), {"absent"});
  ExpectRefused(Lfiw({"convert", log, "/dev/full"}), {"/dev/full"});
  // a full disk leaves nothing behind
  Child full({"convert", log, dir_ / "full.npz"}, dir_ / "output", rlim_t{4096});
  ExpectRefused(full.Wait(), {"full.npz"});
  EXPECT_FALSE(std::filesystem::exists(dir_ / "full.npz"));
}

// A log of Swimmer and two policies, evaluated with everything small. The last field differs
// between the tests.
std::vector<std::string> SmallEvaluation(const TestDir& dir) {
  return {"evaluate",
          "--data",
          dir / "log.npz",
          "--policy",
          dir / "trained/policy.npz",
          "--policy",
          dir / "trained/policy_512.npz",
          "--cache",
          dir / "cache",
          "dynamics.members=2",
          "dynamics.network.width=16",
          "dynamics.fit.steps=60",
          "classifiers.instances=2",
          "classifiers.fit.network.width=16",
          "classifiers.fit.fit.steps=40",
          "back_test.cloning.fit.steps=40",
          "task.learned.fit.steps=40",
          "rollout.repetitions=3",
          "rollout.episodes=10"};
}

TEST_F(Program, EvaluateRanksPoliciesAndBacktestsTheClonedBehavior) {
  ASSERT_EQ(Lfiw({"train", "--env", "Swimmer", "--out", dir_ / "trained", "total_steps=1024",
                  "rollout_steps=512", "minibatches=4", "snapshots=[512]", "--quiet"})
                .status,
            0);
  ASSERT_EQ(Lfiw({"collect", "--env", "Swimmer", "--policy", dir_ / "trained/policy.npz",
                  "--episodes", "30", "--horizon", "20", "--out", dir_ / "log.npz"})
                .status,
            0);
  // the environment is named in the log
  std::vector<std::string> known = SmallEvaluation(dir_);
  known.insert(known.end(), {"--out", dir_ / "known"});
  const Outcome outcome = Lfiw(known);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("30 episodes, 600 steps of Swimmer"));
  EXPECT_THAT(outcome.output, HasSubstr("back-test: for the logged policy"));
  EXPECT_THAT(Results("known"), HasSubstr("Swimmer,policy_512,lfiw_trajectory"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "known/policies/policy_512/report.html"));

  // its resolved configuration repeats it
  EXPECT_EQ(Lfiw({"run", dir_ / "known/config.yaml", "--out", dir_ / "again", "--cache",
                  dir_ / "cache", "--quiet"})
                .status,
            0);
  EXPECT_EQ(Results("again"), Results("known"));

  std::vector<std::string> unknown = SmallEvaluation(dir_);
  unknown.insert(unknown.end(), {"--env", "none", "--out", dir_ / "unknown"});
  const Outcome learned = Lfiw(unknown);
  ASSERT_EQ(learned.status, 0) << learned.output;
  EXPECT_THAT(ReadFile(dir_ / "unknown/report.json"), HasSubstr("learned from the log"));

  // rewards of a module instead
  SaveFunction(dir_ / "reward.pt", "return states[:, 3]");
  std::vector<std::string> given = SmallEvaluation(dir_);
  given.insert(given.end(), {"--reward", dir_ / "reward.pt", "--out", dir_ / "given"});
  const Outcome module = Lfiw(given);
  ASSERT_EQ(module.status, 0) << module.output;
  EXPECT_THAT(ReadFile(dir_ / "given/report.json"), HasSubstr("TorchScript module"));
  EXPECT_NE(Results("given"), Results("known"));

  unknown.push_back("truth.enabled=true");
  ExpectRefused(Lfiw(unknown), {"environment none", "truth.enabled: false"});
}

TEST_F(Program, EvaluateReadsItsLogAsItsOverridesSayAndRunsAgainToTheSame) {
  ASSERT_EQ(Lfiw({"train", "--env", "Swimmer", "--out", dir_ / "trained", "total_steps=1024",
                  "rollout_steps=512", "minibatches=4", "snapshots=[512]", "--quiet"})
                .status,
            0);
  ASSERT_EQ(Lfiw({"collect", "--env", "Swimmer", "--policy", dir_ / "trained/policy.npz",
                  "--episodes", "30", "--horizon", "20", "--out", dir_ / "log.npz"})
                .status,
            0);
  const auto evaluate = [&](const std::string& seed) {
    std::vector<std::string> arguments = SmallEvaluation(dir_);
    arguments.insert(arguments.end(),
                     {"log.max_transitions=250", "seed=" + seed, "--out", dir_ / seed});
    return Lfiw(arguments);
  };
  const Outcome outcome = evaluate("3");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("12 episodes, 240 steps of Swimmer"));
  // which episodes are taken follows from the seed
  ASSERT_EQ(evaluate("4").status, 0);
  const auto log_of = [&](const std::string& run) {
    return nlohmann::json::parse(ReadFile(dir_ / run + "/report.json"))["behavior_value"];
  };
  EXPECT_NE(log_of("3"), log_of("4"));

  ASSERT_EQ(Lfiw({"run", dir_ / "3/config.yaml", "--out", dir_ / "again", "--cache",
                  dir_ / "other_cache", "--quiet"})
                .status,
            0);
  EXPECT_EQ(Results("again"), Results("3"));
}

TEST_F(Program, ReportCanBeMadeAgain) {
  ASSERT_EQ(Lfiw(RunArguments("run")).status, 0);
  const std::string page = ReadFile(dir_ / "run/report.html");
  std::filesystem::remove(dir_ / "run/report.html");
  ASSERT_EQ(Lfiw({"report", dir_ / "run"}).status, 0);
  EXPECT_EQ(ReadFile(dir_ / "run/report.html"), page);
}

}  // namespace
}  // namespace lfiw::experiments
