#include "experiments/cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "envs/env_registry.h"
#include "experiments/presentation/versions.h"
#include "tests/core/logs/log_samples.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

constexpr CommonOptions kQuietly{.verbosity = Verbosity::kQuiet};

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() : env_(FindEnv("Swimmer")), policy_(dir_ / "policy.npz") {
    ConstantPolicy(0.1, 0.5, 8, 2).Save(policy_);
  }

  // What a command prints on standard output; its status is 0.
  template <class Command>
  static std::string Printed(const Command& command) {
    const Outcome outcome = command();
    EXPECT_EQ(outcome.status, 0);
    return outcome.text;
  }
  EpisodeBatch Episodes(std::int64_t count, std::int64_t horizon, std::uint64_t seed,
                        const std::string& purpose) const {
    return CollectEpisodes(
        *env_, *LoadPolicySource(policy_, "").policy,
        {.episodes = count, .horizon = horizon, .seed = seed, .purpose = purpose});
  }

  TestDir dir_;
  std::shared_ptr<const EnvFactory> env_;
  std::string policy_;
};

// ---- run

TEST_F(CommandsTest, ADryRunPrintsTheConfigurationOfEveryKindOfExperiment) {
  const std::string config = dir_ / "config.yaml";
  for (const std::string kind : {"mbope", "verdict_calibration", "bench"}) {
    std::ofstream(config) << "experiment: " << kind << "\nname: mine\n";
    const std::string text = Printed([&] {
      return experiments::Run({.config = config,
                               .overrides = {"seed=7"},
                               .dry_run = true,
                               .out = dir_ / "out",
                               .cache = dir_ / "cache"},
                              kQuietly);
    });
    EXPECT_THAT(text, AllOf(HasSubstr("name: mine"), HasSubstr("experiment: " + kind),
                            HasSubstr("seed: 7")))
        << kind;
  }
  EXPECT_FALSE(fs::exists(dir_ / "out"));
  EXPECT_FALSE(fs::exists(dir_ / "cache"));
}

TEST_F(CommandsTest, AWrongConfigurationIsRefusedInADryRunToo) {
  const std::string config = dir_ / "config.yaml";
  std::ofstream(config) << "estimators: {horizons: [101]}\n";
  EXPECT_THAT(
      [&] {
        experiments::Run({.config = config, .overrides = {}, .dry_run = true, .out = ""}, kQuietly);
      },
      ThrowsMessage<ConfigError>(HasSubstr("101 is beyond value.horizon = 100")));
}

TEST_F(CommandsTest, AMultirunIsTheProductOfItsLists) {
  const std::string config = dir_ / "config.yaml";
  std::ofstream(config) << "name: mine\n";
  const auto run = [&](OutputForm form) {
    return experiments::Run({.config = config,
                             .overrides = {"seed=1,2", "value.discount=0.5,0.9"},
                             .multirun = true,
                             .dry_run = true,
                             .out = ""},
                            {.threads = 0, .verbosity = Verbosity::kQuiet, .form = form});
  };
  testing::internal::CaptureStdout();
  EXPECT_EQ(run(OutputForm::kText).status, 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("== run 1 of 4: seed=1 value.discount=0.5\n"));
  EXPECT_THAT(text, HasSubstr("== run 4 of 4: seed=2 value.discount=0.9\n"));
  // as JSON it prints nothing on the way
  testing::internal::CaptureStdout();
  const Outcome object = run(OutputForm::kJson);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  ASSERT_EQ(object.object["runs"].size(), 4u);
  EXPECT_EQ(object.object["runs"][3]["overrides"][0], "seed=2");
  EXPECT_THAT(object.object["runs"][3]["configuration"].get<std::string>(),
              HasSubstr("discount: 0.9"));
}

// ---- truth

TEST_F(CommandsTest, TheTruthIsTheMonteCarloValueOfThePolicy) {
  const TruthCommand command{.env = "swimmer-v2",
                             .policy = policy_,
                             .contract = "",
                             .horizon = 12,
                             .episodes = 6,
                             .discount = 0.9,
                             .seed = 3};
  const MonteCarloEstimate truth =
      MonteCarloValue(*env_, *LoadPolicySource(policy_, "").policy,
                      {.episodes = 6, .horizon = 12, .seed = 3, .purpose = "truth"}, 0.9);
  EXPECT_EQ(Printed([&] { return Truth(command, kQuietly); }),
            fmt::format("Swimmer {}: value {:.4f} +- {:.4f} (standard error, 6 episodes, mean "
                        "length 12.0, horizon 12, discount 0.9)\n",
                        policy_, truth.value, truth.standard_error));
}

TEST_F(CommandsTest, ByItsMeanAPolicyActsWithoutNoise) {
  const auto value = [&](double deviation, bool mean) {
    ConstantPolicy(0.1, deviation, 8, 2).Save(policy_);
    return Printed([&] {
      return Truth({.env = "Swimmer",
                    .policy = policy_,
                    .contract = "",
                    .mean = mean,
                    .horizon = 12,
                    .episodes = 3},
                   kQuietly);
    });
  };
  EXPECT_EQ(value(0.5, true), value(0.1, true));
  EXPECT_NE(value(0.5, false), value(0.5, true));
}

TEST_F(CommandsTest, APolicyThatDoesNotFitTheEnvironmentIsRefused) {
  EXPECT_THAT([&] { Truth({.env = "Hopper", .policy = policy_, .contract = ""}, kQuietly); },
              ThrowsMessage<PolicyError>(HasSubstr("Hopper")));
}

// ---- collect

TEST_F(CommandsTest, CollectWritesTheEpisodesOfThePolicyWithTheirEnvironment) {
  const std::string out = dir_ / "log.npz";
  EXPECT_EQ(Collect({.env = "Swimmer",
                     .policy = policy_,
                     .contract = "",
                     .out = out,
                     .format = "",
                     .horizon = 5,
                     .episodes = 3,
                     .seed = 9},
                    kQuietly)
                .status,
            0);
  const LoadedLog log = LoadLog(out);
  EXPECT_EQ(log.info.environment, "Swimmer");
  ExpectSameLog(log.batch, Episodes(3, 5, 9, "log"));
}

TEST_F(CommandsTest, CollectRefusesAFormatThatItCannotWriteBeforeItRuns) {
  EXPECT_THAT(
      [&] {
        Collect({.env = "Swimmer", .policy = "none", .contract = "", .out = "a", .format = "xml"},
                kQuietly);
      },
      ThrowsMessage<ConfigError>(HasSubstr("xml")));
}

// ---- check-policy

TEST_F(CommandsTest, CheckPolicyFindsThatALogIsOfThePolicy) {
  const std::string data = dir_ / "log.npz";
  SaveLog(Episodes(4, 10, 1, "log"), data, {.environment = "Swimmer"});
  const auto check = [&](const std::string& env) {
    return CheckPolicy({.policy = policy_, .contract = "", .data = data, .env = env}).object;
  };
  const nlohmann::ordered_json report = check("Swimmer");
  EXPECT_EQ(report["policy"], policy_);
  EXPECT_EQ(report["data"], data);
  EXPECT_EQ(report["steps"], 40);
  EXPECT_EQ(report["bounds_from"], "Swimmer");
  EXPECT_LT(report["stored_log_density"]["max_absolute_error"], 1e-5);
  EXPECT_EQ(check("")["bounds_from"], "the log");
  EXPECT_THAT(Printed([&] {
                return CheckPolicy({.policy = policy_, .contract = "", .data = data, .env = ""});
              }),
              HasSubstr(data + ", 40 steps; bounds from the log"));
}

TEST_F(CommandsTest, CheckPolicyRefusesALogOfOtherSizes) {
  const std::string data = dir_ / "log.npz";
  SaveLog(Episodes(2, 5, 1, "log"), data);
  const std::string other = dir_ / "other.npz";
  ConstantPolicy(0.0, 1.0, 7, 2).Save(other);
  EXPECT_THAT([&] { CheckPolicy({.policy = other, .contract = "", .data = data, .env = ""}); },
              ThrowsMessage<PolicyError>(HasSubstr(data)));
}

// ---- report, doctor, version

TEST_F(CommandsTest, AReportIsMadeAgainFromItsNumbers) {
  std::ofstream(dir_ / "report.json") << R"({"title": "my title"})";
  EXPECT_EQ(Printed([&] { return Report({.directory = dir_.path()}); }),
            "report: " + dir_.path() + "/report.html\n");
  EXPECT_THAT(ReadFile(dir_ / "report.html"), HasSubstr("my title"));
  EXPECT_THAT([&] { Report({.directory = dir_ / "none"}); },
              ThrowsMessage<DataError>(HasSubstr("none")));
}

TEST(Doctor, TellsWhatDecidesSpeedAndBytes) {
  const Outcome doctor = Doctor();
  EXPECT_EQ(doctor.status, 0);
  const std::string& text = doctor.text;
  EXPECT_THAT(text, StartsWith("lfiw "));
  EXPECT_THAT(text, AllOf(HasSubstr("\nCPU "), HasSubstr("\nBLAS "), HasSubstr(" GFLOP/s")));
  for (const auto& [name, version] : LibraryVersions()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("{:<9} {}\n", name, version)));
    EXPECT_EQ(doctor.object["libraries"][name], version);
  }
}

TEST(VersionText, NamesTheLibrariesThatResultsDependOn) {
  const std::string text = VersionText();
  EXPECT_THAT(text, StartsWith("lfiw "));
  for (const auto& [name, version] : LibraryVersions()) {
    EXPECT_THAT(text, HasSubstr(", " + name + " " + version));
  }
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace lfiw::experiments
