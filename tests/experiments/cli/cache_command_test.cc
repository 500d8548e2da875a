#include "experiments/cli/cache_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/stage_cache.h"
#include "experiments/presentation/toolchain.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

struct TextKey {
  std::string text;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("text", text, "what is written");
  }
};

// A stage of the models' layer that writes the text of its key.
struct TextStage {
  static constexpr StageInfo kInfo{.name = "text", .layer = Layer::kModels};
  using Key = TextKey;
  using Inputs = NoInputs;
  static void Make(const Key& key, const Inputs& /*inputs*/, const StageWork& work) {
    WriteFileAtomically(work.File("out.txt"), key.text);
  }
};

struct OtherStage {
  static constexpr StageInfo kInfo{.name = "other", .layer = Layer::kExperiments};
  using Key = TextKey;
  using Inputs = NoInputs;
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work) {
    TextStage::Make(key, inputs, work);
  }
};

class CacheCommandTest : public ::testing::Test {
 protected:
  template <class Stage = TextStage>
  Artifact Make(const std::string& text, const Toolchain& toolchain = CurrentToolchain()) {
    return StageCache(dir_.path(), toolchain).Run<Stage>({text}, {});
  }
  // What a command prints, whose exit status is the one expected.
  template <class Command>
  static std::string Printed(const Command& command, int expected_status = 0) {
    const Outcome outcome = command();
    EXPECT_EQ(outcome.status, expected_status);
    return outcome.text;
  }
  std::string Listed() {
    return Printed([&] { return ListCacheEntries(dir_.path()); });
  }

  TestDir dir_;
};

// The only line of a text that holds a word.
std::string LineWith(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// ---- ages

TEST(ParseAge, ReadsMinutesHoursDaysAndWeeks) {
  EXPECT_EQ(ParseAge("90m"), seconds(5400));
  EXPECT_EQ(ParseAge("12h"), seconds(43200));
  EXPECT_EQ(ParseAge("30d"), seconds(2'592'000));
  EXPECT_EQ(ParseAge("2w"), seconds(1'209'600));
  EXPECT_EQ(ParseAge("0d"), seconds(0));
}

TEST(ParseAge, RefusesAllElseWithAnExample) {
  for (const char* text : {"", "d", "30", "30 d", "-1d", "+1d", "1.5h", "30days", "30y", "30D",
                           "1000000d", "99999999999999999999d", " 3d", "0x3d"}) {
    EXPECT_THAT([&] { ParseAge(text); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr("--older-than"), HasSubstr("90m, 12h, 30d or 2w"))))
        << text;
  }
}

// ---- list

TEST_F(CacheCommandTest, AnEmptyCacheHasNoStages) {
  EXPECT_EQ(Printed([&] { return ListCacheEntries(dir_ / "none"); }),
            (dir_ / "none") + ": no stages\n");
}

TEST_F(CacheCommandTest, TheListNamesStageSizeAndFolder) {
  const Artifact artifact = Make(std::string(5000, 'x'));
  const auto bytes = 5000 + fs::file_size(artifact.File("stage.json"));
  const std::string line = LineWith(Listed(), artifact.directory);
  EXPECT_THAT(line, HasSubstr(fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024.0)));
  EXPECT_THAT(line, ContainsRegex("^text .* [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} "));
  EXPECT_THAT(line, HasSubstr(" current "));
}

TEST_F(CacheCommandTest, WhatThisProgramMadeIsCurrentWhateverLayerItIsOf) {
  EXPECT_THAT(LineWith((Make<TextStage>("a"), Listed()), "text"), HasSubstr(" current "));
  EXPECT_THAT(LineWith((Make<OtherStage>("a"), Listed()), "other"), HasSubstr(" current "));
}

TEST_F(CacheCommandTest, EntriesOfAnotherToolchainAreMarkedByWhatDiffers) {
  Toolchain program = CurrentToolchain();
  program.sources[0] = "other";
  Toolchain processor = CurrentToolchain();
  processor.computed_with["CPU"] = "other";
  Toolchain both = program;
  both.computed_with["CPU"] = "other";
  both.computed_with.erase("MuJoCo");
  const std::string current = Make("1").directory;
  const std::string of_program = Make("1", program).directory;
  const std::string of_processor = Make("1", processor).directory;
  const std::string of_both = Make("1", both).directory;
  const std::string list = Listed();
  EXPECT_THAT(LineWith(list, current), HasSubstr(" current "));
  EXPECT_THAT(LineWith(list, of_program), HasSubstr(" of another lfiw "));
  EXPECT_THAT(LineWith(list, of_processor), HasSubstr(" of another CPU "));
  EXPECT_THAT(LineWith(list, of_both), HasSubstr(" of another lfiw, CPU, MuJoCo "));
}

TEST_F(CacheCommandTest, WhatIsNoArtifactIsSaidToBeUnfinishedOrForeign) {
  const Artifact artifact = Make("1");
  fs::remove(artifact.File("stage.json"));
  EXPECT_THAT(LineWith(Listed(), artifact.directory), HasSubstr(" foreign "));
}

// ---- size

TEST_F(CacheCommandTest, TheSizeIsToldByStageAndInAll) {
  std::int64_t text = 0, other = 0;
  const auto bytes_of = [](const Artifact& artifact) {
    return static_cast<std::int64_t>(fs::file_size(artifact.File("out.txt")) +
                                     fs::file_size(artifact.File("stage.json")));
  };
  text += bytes_of(Make<TextStage>(std::string(3000, 'a')));
  text += bytes_of(Make<TextStage>(std::string(2'000'000, 'b')));
  other += bytes_of(Make<OtherStage>("c"));
  const std::string size = Printed([&] { return MeasureCache(dir_.path()); });
  const auto mebibytes = [](std::int64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
  };
  EXPECT_THAT(LineWith(size, "text"), ContainsRegex("text +2 +" + mebibytes(text)));
  EXPECT_THAT(LineWith(size, "other"), ContainsRegex("other +1 +"));
  EXPECT_THAT(LineWith(size, "all"), ContainsRegex("all +3 +" + mebibytes(text + other)));
}

TEST_F(CacheCommandTest, AnEmptyCacheHasASizeOfNothing) {
  EXPECT_THAT(LineWith(Printed([&] { return MeasureCache(dir_ / "none"); }), "all"),
              ContainsRegex("all +0 +0 B"));
}

// ---- prune

TEST_F(CacheCommandTest, PruningDeletesWhatNoRunHasAskedForInTheGivenTime) {
  const Artifact old = Make("old");
  const Artifact fresh = Make("fresh");
  fs::last_write_time(old.directory + ".lock", fs::file_time_type::clock::now() - hours(49));
  const auto prune = [&](Pruning pruning) {
    return Printed([&] { return PruneCacheEntries(dir_.path(), "2d", pruning); });
  };
  EXPECT_THAT(prune(Pruning::kReport), HasSubstr("would delete 1 entries of " + dir_.path()));
  EXPECT_TRUE(fs::exists(old.directory));
  EXPECT_THAT(prune(Pruning::kDelete), HasSubstr("deleted 1 entries"));
  EXPECT_FALSE(fs::exists(old.directory));
  EXPECT_TRUE(fs::exists(fresh.directory));
  EXPECT_THAT(prune(Pruning::kDelete), HasSubstr("deleted 0 entries"));
}

TEST_F(CacheCommandTest, AWrongAgeDeletesNothing) {
  const Artifact artifact = Make("1");
  EXPECT_THROW(PruneCacheEntries(dir_.path(), "soon", Pruning::kDelete), ConfigError);
  EXPECT_TRUE(fs::exists(artifact.directory));
}

// ---- verify

TEST_F(CacheCommandTest, AWholeCacheIsVerifiedWithStatusZero) {
  Make("1");
  Make("2");
  EXPECT_THAT(Printed([&] { return VerifyCacheEntries(dir_.path()); }),
              HasSubstr("2 whole, 0 damaged"));
  EXPECT_THAT(Printed([&] { return VerifyCacheEntries(dir_ / "none"); }),
              HasSubstr("0 whole, 0 damaged"));
}

TEST_F(CacheCommandTest, ADamagedEntryIsNamedWithStatusTwo) {
  Make("1");
  const Artifact damaged = Make("2");
  std::ofstream(damaged.File("out.txt")) << "3";
  const std::string text = Printed([&] { return VerifyCacheEntries(dir_.path()); }, 2);
  EXPECT_THAT(text, HasSubstr("damaged: " + damaged.directory));
  EXPECT_THAT(text, HasSubstr("1 whole, 1 damaged"));
  // the next run repairs it
  EXPECT_EQ(ReadFile(Make("2").File("out.txt")), "2");
  EXPECT_THAT(Printed([&] { return VerifyCacheEntries(dir_.path()); }),
              HasSubstr("2 whole, 0 damaged"));
}

}  // namespace
}  // namespace lfiw::experiments
