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
  testing::internal::CaptureStdout();
  const int status = Gof(command, Verbosity::kQuiet);
  std::ofstream(dir / "config.yaml") << testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(command.out));
  EXPECT_FALSE(std::filesystem::exists(command.cache));
  return LoadConfig<GofConfig>(dir / "config.yaml");
}

TEST(GofCommand, MeansTheGivenFilesAndIsNamedAfterTheFirstGenerated) {
  const GofConfig config =
      Resolved({.real = {"a.bin", "b.bin"}, .generated = {"x/mine.npz", "y"}, .features = "net"});
  EXPECT_EQ(config.name, "gof_mine");
  EXPECT_THAT(config.real, ElementsAre("a.bin", "b.bin"));
  EXPECT_THAT(config.generated, ElementsAre("x/mine.npz", "y"));
  EXPECT_EQ(config.features, "net");
}

TEST(GofCommand, AFolderWithASlashAtItsEndHasItsName) {
  EXPECT_EQ(Resolved({.real = {"a"}, .generated = {"images/mine/"}, .features = ""}).name,
            "gof_mine");
}

TEST(GofCommand, OverridesWin) {
  const GofConfig config = Resolved({.real = {"a"},
                                     .generated = {"b"},
                                     .features = "net",
                                     .overrides = {"name=mine", "features=other", "seed=3"}});
  EXPECT_EQ(config.name, "mine");
  EXPECT_EQ(config.features, "other");
  EXPECT_EQ(config.seed, 3u);
}

TEST(GofCommand, AWrongOverrideIsNamed) {
  EXPECT_THAT(
      [] {
        Gof({.real = {"a"}, .generated = {"b"}, .features = "", .overrides = {"sead=3"}},
            Verbosity::kQuiet);
      },
      ThrowsMessage<ConfigError>(HasSubstr("sead")));
}

}  // namespace
}  // namespace lfiw::experiments
