#include "core/run/cache_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::system_clock;
using testing::ElementsAre;
using testing::IsEmpty;

StageId Id(const std::string& name) {
  return {.name = name, .key = "{}", .inputs = {}, .sources = "", .computed_with = {}};
}

Artifact Make(const std::string& root, const std::string& name) {
  return StageCache(root).RunStage(Id(name), [](const std::string& directory) {
    WriteFileAtomically(directory + "/out.txt", std::string(100, 'x'));
  });
}

// Lets an artifact look as if it had last been asked for so long ago.
void Age(const Artifact& artifact, hours age) {
  fs::last_write_time(artifact.directory + ".lock", fs::file_time_type::clock::now() - age);
}

std::vector<std::string> Stages(const std::string& root) {
  std::vector<std::string> names;
  for (const CacheEntry& entry : ListCache(root)) names.push_back(entry.stage);
  return names;
}

TEST(ListCache, NamesStageSizeAndWhatItIsOf) {
  const TestDir dir;
  EXPECT_THAT(ListCache(dir / "none"), IsEmpty());
  Make(dir.path(), "b");
  const Artifact a = Make(dir.path(), "a");
  const std::vector<CacheEntry> entries = ListCache(dir.path());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].stage, "a");
  EXPECT_EQ(entries[0].state, EntryState::kWhole);
  EXPECT_EQ(entries[0].bytes, 100 + static_cast<std::int64_t>(fs::file_size(a.File("stage.json"))));
  EXPECT_LT(system_clock::now() - entries[0].last_used, hours(1));
  ASSERT_TRUE(entries[0].id);
  EXPECT_EQ(entries[0].id->Hash(), Id("a").Hash());
}

TEST(ListCache, TellsUnfinishedAndForeignEntriesApart) {
  const TestDir dir;
  EXPECT_THROW(
      StageCache(dir.path())
          .RunStage(Id("a"), [](const std::string&) { throw std::runtime_error("killed"); }),
      std::runtime_error);
  fs::create_directories(dir / "b/by_hand");
  const std::vector<CacheEntry> entries = ListCache(dir.path());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].state, EntryState::kUnfinished);
  EXPECT_EQ(entries[1].state, EntryState::kForeign);
  EXPECT_FALSE(IsIntact(entries[1]));
}

TEST(IsIntact, SeesOneChangedByte) {
  const TestDir dir;
  const Artifact a = Make(dir.path(), "a");
  EXPECT_TRUE(IsIntact(ListCache(dir.path()).front()));
  std::string changed(100, 'x');
  changed.back() = 'y';
  WriteFileAtomically(a.File("out.txt"), changed);
  EXPECT_FALSE(IsIntact(ListCache(dir.path()).front()));
}

TEST(PruneCache, DeletesWhatWasNotAskedForSinceTheLimit) {
  const TestDir dir;
  Age(Make(dir.path(), "old"), hours(48));
  Make(dir.path(), "new");
  const auto limit = system_clock::now() - hours(24);
  EXPECT_EQ(PruneCache(dir.path(), limit, Pruning::kReport).entries, 1);
  EXPECT_THAT(Stages(dir.path()), ElementsAre("new", "old"));
  const PruneResult result = PruneCache(dir.path(), limit, Pruning::kDelete);
  EXPECT_EQ(result.entries, 1);
  EXPECT_GT(result.bytes, 100);
  EXPECT_THAT(Stages(dir.path()), ElementsAre("new"));
}

TEST(PruneCache, AskingForAnArtifactKeepsIt) {
  const TestDir dir;
  Age(Make(dir.path(), "a"), hours(48));
  Make(dir.path(), "a");
  PruneCache(dir.path(), system_clock::now() - hours(24), Pruning::kDelete);
  EXPECT_THAT(Stages(dir.path()), ElementsAre("a"));
}

TEST(PruneCache, KeepsWhatAProcessIsWorkingOn) {
  const TestDir dir;
  const Artifact a = Make(dir.path(), "a");
  Age(a, hours(48));
  const FileLock held(a.directory + ".lock");
  const PruneResult result =
      PruneCache(dir.path(), system_clock::now() - hours(24), Pruning::kDelete);
  EXPECT_EQ(result.in_use, 1);
  EXPECT_EQ(result.entries, 0);
  EXPECT_THAT(Stages(dir.path()), ElementsAre("a"));
}

}  // namespace
}  // namespace lfiw::core
