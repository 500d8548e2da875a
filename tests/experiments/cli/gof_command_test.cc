#include "experiments/cli/gof_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/config/config.h"
#include "core/error.h"
#include "experiments/image_gof/gof_config.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The configuration that a dry run prints.
GofConfig Resolved(GofCommand command) {
  const TestDir dir;
  command.dry_run = true;
  command.out = dir / "out";
  command.cache = dir / "cache";
  const Outcome outcome = Gof(command, Verbosity::kQuiet);
  std::ofstream(dir / "config.yaml") << outcome.text;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(std::filesystem::exists(command.out));
  EXPECT_FALSE(std::filesystem::exists(command.cache));
  return LoadConfig<GofConfig>(dir / "config.yaml");
}

// Features of these files.
GofCommand Of(const std::vector<std::string>& real, const std::vector<std::string>& generated,
              const std::vector<std::string>& overrides = {}) {
  return {
      .real = real, .generated = generated, .features = "net", .overrides = overrides, .out = ""};
}

TEST(GofCommand, MeansTheGivenFilesAndIsNamedAfterTheFirstGenerated) {
  const GofConfig config = Resolved(Of({"a.bin", "b.bin"}, {"x/mine.npz", "y"}));
  EXPECT_EQ(config.name, "gof_mine");
  EXPECT_THAT(config.real, ElementsAre("a.bin", "b.bin"));
  EXPECT_THAT(config.generated, ElementsAre("x/mine.npz", "y"));
  EXPECT_EQ(config.features, "net");
}

TEST(GofCommand, AFolderWithASlashAtItsEndHasItsName) {
  EXPECT_EQ(Resolved(Of({"a"}, {"images/mine/"})).name, "gof_mine");
}

TEST(GofCommand, OverridesWin) {
  const GofConfig config = Resolved(Of({"a"}, {"b"}, {"name=mine", "features=other", "seed=3"}));
  EXPECT_EQ(config.name, "mine");
  EXPECT_EQ(config.features, "other");
  EXPECT_EQ(config.seed, 3u);
}

TEST(GofCommand, AWrongOverrideIsNamed) {
  EXPECT_THAT([] { Gof(Of({"a"}, {"b"}, {"sead=3"}), Verbosity::kQuiet); },
              ThrowsMessage<ConfigError>(HasSubstr("sead")));
}

}  // namespace
}  // namespace lfiw::experiments
