#include "core/run/run_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/host_name.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

TEST(RunDirectoryTest, TheDefaultPathNamesTheConfiguration) {
  EXPECT_THAT(DefaultRunDirectory("outputs", "swimmer", "{}"),
              MatchesRegex("outputs/swimmer/[0-9a-f]{12}"));
  EXPECT_NE(DefaultRunDirectory("o", "n", "{}"), DefaultRunDirectory("o", "n", "{1}"));
}

TEST(RunDirectoryTest, CreatesParentsAndLeavesNothingUnasked) {
  const TestDir dir;
  const RunDirectory run(dir / "a/b");
  EXPECT_TRUE(std::filesystem::is_empty(run.path()));
  run.Write("plots/x.svg", "<svg/>");
  EXPECT_EQ(ReadFile(run.File("plots/x.svg")), "<svg/>");
}

TEST(RunDirectoryTest, APathUnderAFileIsADataError) {
  const TestDir dir;
  WriteFileAtomically(dir / "f", "x");
  for (const char* name : {"f", "f/run"}) {
    EXPECT_THAT([&] { RunDirectory run(dir / name); },
                ThrowsMessage<DataError>(HasSubstr(dir / name)));
  }
}

TEST(RunDirectoryTest, AnUnwritableDirectoryIsADataErrorAtOnce) {
  // no file can be created here, by root neither
  EXPECT_THAT([] { RunDirectory run("/proc"); },
              ThrowsMessage<DataError>(HasSubstr("cannot write /proc/")));
}

TEST(RunDirectoryTest, TheManifestTellsWhatTheRunWasMadeOf) {
  const TestDir dir;
  const RunDirectory run(dir.path());
  Manifest manifest;
  manifest.command = "lfiw run \xff.yaml";
  manifest.libraries = {{"libtorch", "1.13.1"}};
  manifest.seeds = {{"run", std::numeric_limits<std::uint64_t>::max()}};
  manifest.inputs = {{"log.npz", "abc"}};
  manifest.stages = {{"fit", "key", "hash", StageOutcome::kComputed, 1.5}};
  manifest.threads = 2;
  run.WriteManifest(manifest, QuerySystem());
  const auto json = nlohmann::json::parse(ReadFile(run.File("manifest.json")));
  EXPECT_EQ(json["lfiw"], QuerySystem().version);
  EXPECT_EQ(json["libraries"]["libtorch"], "1.13.1");
  EXPECT_EQ(json["seeds"]["run"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json["inputs_sha256"]["log.npz"], "abc");
  EXPECT_EQ(json["stages"][0]["outcome"], "computed");
  EXPECT_EQ(json["stages"][0]["seconds"], 1.5);
  EXPECT_THAT(json["system"]["openblas_config"], HasSubstr("OpenBLAS"));
}

TEST(RunDirectoryTest, RemovesWhatAKilledProgramLeft) {
  namespace fs = std::filesystem;
  const TestDir dir;
  const std::string mine = dir / fmt::format(".report.json@{}.{}.7.tmp", HostName(), ::getpid());
  const std::string dead = dir / fmt::format(".report.json@{}.999999999.0.tmp", HostName()),
                    elsewhere = dir / ".report.json@not.this-machine.999999999.0.tmp",
                    other = dir / ".notes.tmp";
  for (const std::string& path : {mine, dead, elsewhere, other}) std::ofstream(path) << "x";
  const RunDirectory run(dir.path());
  EXPECT_TRUE(fs::exists(mine));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(elsewhere));
  EXPECT_TRUE(fs::exists(other));
}

}  // namespace
}  // namespace lfiw::core
