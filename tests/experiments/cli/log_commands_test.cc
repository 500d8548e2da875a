#include "experiments/cli/log_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "envs/env_registry.h"
#include "tests/core/logs/log_samples.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;
namespace fs = std::filesystem;

// A log, of an environment that the user may name.
LogArguments Log(const std::string& path, const std::string& env = "") {
  return {.path = path, .map = "", .env = env};
}

class LogCommandsTest : public ::testing::Test {
 protected:
  LogCommandsTest()
      : log_(CollectEpisodes(*FindEnv("Swimmer"), ConstantPolicy(0.0, 0.5, 8, 2),
                             {.episodes = 4, .horizon = 6, .seed = 1, .purpose = "log"})),
        path_(dir_ / "log.npz") {
    SaveLog(log_, path_, {.environment = "Swimmer"});
  }

  // What a command prints on standard output; its status is 0.
  template <class Command>
  static std::string Printed(const Command& command) {
    const Outcome outcome = command();
    EXPECT_EQ(outcome.status, 0);
    return outcome.text;
  }
  Json Audited(const LogArguments& arguments) {
    return Inspect({.log = arguments, .out = ""}).object;
  }
  static std::vector<std::string> CodesOf(const Json& audit) {
    std::vector<std::string> codes;
    for (const Json& finding : audit["findings"]) codes.push_back(finding["code"]);
    return codes;
  }

  TestDir dir_;
  EpisodeBatch log_;
  std::string path_;
};

TEST(BatchSteps, AreFewerWhereObservationsAreWideAndAtLeastOne) {
  EXPECT_EQ(BatchSteps({.obs_dim = 6, .action_dim = 2}), 1'000'000);
  EXPECT_EQ(BatchSteps({.obs_dim = 3998, .action_dim = 2}), 2000);
  EXPECT_EQ(BatchSteps({.obs_dim = 100'000'000, .action_dim = 1}), 1);
}

TEST(ReadOptionsFor, TakePositionsWhereTheEnvironmentsRewardNeedsTheVelocity) {
  LogArguments arguments{.path = "", .map = "obs=x", .env = "", .max_episode_steps = 7};
  LogReadOptions options = ReadOptionsFor(arguments);
  EXPECT_EQ(options.map, "obs=x");
  EXPECT_EQ(options.max_episode_steps, 7);
  EXPECT_EQ(options.position_step_seconds, 0.0);
  arguments.env = "Swimmer";
  EXPECT_EQ(ReadOptionsFor(arguments).position_step_seconds,
            FindEnv("Swimmer")->spec().step_seconds);
  arguments.env = "Glider";
  EXPECT_THROW(ReadOptionsFor(arguments), ConfigError);
}

// ---- inspect

TEST_F(LogCommandsTest, InspectTellsWhatALogHolds) {
  const Json audit = Audited(Log(path_));
  EXPECT_EQ(audit["environment"], "Swimmer");
  EXPECT_EQ(audit["episodes"], 4);
  EXPECT_EQ(audit["steps"], 24);
  EXPECT_EQ(audit["obs_dim"], 8);
  EXPECT_EQ(audit["action_dim"], 2);
  EXPECT_EQ(audit["path"], path_);
  const std::string text = Printed([&] { return Inspect({.log = Log(path_), .out = ""}); });
  EXPECT_THAT(text, AllOf(HasSubstr(path_), HasSubstr("Swimmer")));
}

TEST_F(LogCommandsTest, InspectHoldsTheLogAgainstTheEnvironmentThatItNames) {
  EpisodeBatch wrong = log_;
  for (double& reward : wrong.rewards) reward += 1.0;
  SaveLog(wrong, path_, {.environment = "Swimmer"});
  const std::vector<std::string> of_its_own = CodesOf(Audited(Log(path_)));
  EXPECT_THAT(of_its_own, Not(IsEmpty()));
  // of an environment that nobody knows there is nothing to hold it against
  SaveLog(wrong, path_, {.environment = "Glider-v0"});
  const std::vector<std::string> unknown = CodesOf(Audited(Log(path_)));
  EXPECT_LT(unknown.size(), of_its_own.size());
  // unless the user says
  EXPECT_EQ(CodesOf(Audited(Log(path_, "Swimmer"))), of_its_own);
}

TEST_F(LogCommandsTest, InspectTellsWhereTheLogIsOfAnotherVersionThanNamed) {
  const auto env = FindEnv("Hopper-v5");
  SaveLog(CollectEpisodes(*env, ConstantPolicy(0.0, 0.5, 11, 3),
                          {.episodes = 4, .horizon = 6, .seed = 1, .purpose = "log"}),
          path_, {.environment = "Hopper-v5"});
  EXPECT_THAT(CodesOf(Audited(Log(path_))), Not(Contains("environment_version")));
  const Json audit = Audited(Log(path_, "Hopper"));
  EXPECT_THAT(CodesOf(audit), Contains("environment_version"));
  EXPECT_THAT(audit.dump(), HasSubstr("it is of Hopper-v5, but held against Hopper: in Hopper-v5 a "
                                      "step that ends the episode earns no reward for health"));
  // one that nobody knows
  SaveLog(log_, path_, {.environment = "Swimmer-v6"});
  const Json unknown = Audited(Log(path_));
  EXPECT_THAT(unknown.dump(), HasSubstr("version 6 is not known"));
}

TEST_F(LogCommandsTest, InspectRefusesAnEnvironmentThatItDoesNotKnow) {
  EXPECT_THAT([&] { Inspect({.log = Log(path_, "Glider"), .out = ""}); },
              ThrowsMessage<ConfigError>(HasSubstr("Glider")));
}

TEST_F(LogCommandsTest, InspectWritesAPageAndTheSameNumbersForPrograms) {
  const std::string out = dir_ / "audit";
  const Outcome outcome = Inspect({.log = Log(path_), .out = out});
  EXPECT_THAT(outcome.text, HasSubstr("report: " + out + "/report.html\n"));
  EXPECT_EQ(Json::parse(ReadFile(out + "/audit.json")), Json(outcome.object));
  EXPECT_THAT(ReadFile(out + "/report.html"), HasSubstr("<html"));
}

// ---- convert

TEST_F(LogCommandsTest, ConvertedThereAndBackALogIsTheSame) {
  for (const char* name : {"log.csv", "log.hdf5", "minari"}) {
    const std::string there = dir_ / name;
    const std::string back = dir_ / (std::string(name) + ".npz");
    EXPECT_THAT(Printed([&] { return Convert({.log = Log(path_), .out = there, .to = ""}); }),
                HasSubstr(there + ": 4 episodes, 24 steps\n"));
    Printed([&] { return Convert({.log = Log(there), .out = back, .to = ""}); });
    ExpectSameLog(LoadLog(back).batch, log_);
  }
}

TEST_F(LogCommandsTest, ConvertWritesTheFormatThatIsNamed) {
  Printed([&] { return Convert({.log = Log(path_), .out = dir_ / "log.txt", .to = "csv"}); });
  EXPECT_EQ(OpenLog(dir_ / "log.txt")->info().format, "CSV");
  EXPECT_THAT([&] { Convert({.log = Log(path_), .out = dir_ / "log.txt", .to = "xml"}); },
              ThrowsMessage<ConfigError>(HasSubstr("xml")));
  EXPECT_THROW(Convert({.log = Log(path_), .out = dir_ / "log.xml", .to = ""}), ConfigError);
}

TEST_F(LogCommandsTest, ConvertNamesTheEnvironmentAsTheUserDoes) {
  const std::string out = dir_ / "out.npz";
  const auto named = [&](const std::string& env) {
    Printed([&] { return Convert({.log = Log(path_, env), .out = out, .to = ""}); });
    return OpenLog(out)->info().environment;
  };
  EXPECT_EQ(named(""), "Swimmer");
  SaveLog(log_, path_);
  EXPECT_EQ(named(""), "");
  EXPECT_EQ(named("swimmer-v2"), "Swimmer");
}

TEST_F(LogCommandsTest, ALogThatCannotBeReadLeavesNothing) {
  WriteFileAtomically(path_, "episode,t,obs_0,action,reward\n");
  const std::string out = dir_ / "out.npz";
  EXPECT_THAT([&] { Convert({.log = Log(path_), .out = out, .to = ""}); },
              ThrowsMessage<DataError>(HasSubstr(path_)));
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace lfiw::experiments
