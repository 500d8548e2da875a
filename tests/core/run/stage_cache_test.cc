#include "core/run/stage_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
#include "core/run/progress.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

StageId Id(const std::string& name, const std::string& key) {
  return {.name = name,
          .key = key,
          .inputs = {"abc"},
          .version = 1,
          .sources = "of today",
          .computed_with = {{"BLAS", "OpenBLAS 0.3.21 Haswell"}, {"CPU", "Zen 4"}}};
}

StageId Fit() { return Id("fit", R"({"steps":5})"); }

// Writes one file and counts its calls.
struct Counter {
  int calls = 0;
  std::string content = "result";
  StageCache::Writer writer() {
    return [this](const std::string& directory) {
      ++calls;
      WriteFileAtomically(directory + "/out.txt", content);
    };
  }
};

std::vector<StageOutcome> Outcomes(const StageCache& cache) {
  std::vector<StageOutcome> outcomes;
  for (const StageRecord& record : cache.records()) outcomes.push_back(record.outcome);
  return outcomes;
}

TEST(StageIdTest, EveryFieldChangesTheHash) {
  std::vector<StageId> stages(9, Fit());
  stages[1].name = "other";
  stages[2].key = "{}";
  stages[3].inputs = {"abd"};
  stages[4].inputs = {"ab", "c"};
  stages[5].version = 2;
  stages[6].sources = "of tomorrow";
  stages[7].computed_with["BLAS"] = "OpenBLAS 0.3.21 SkylakeX";
  stages[8].computed_with.erase("CPU");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(stages[i].Hash(), stages[j].Hash());
  }
  EXPECT_EQ(Fit().Hash(), Fit().Hash());
}

TEST(ReadSealTest, TellsWhatAnArtifactIsOf) {
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  const Artifact artifact = cache.RunStage(Fit(), counter.writer());
  ASSERT_TRUE(ReadSeal(artifact.directory));
  EXPECT_EQ(ReadSeal(artifact.directory)->Hash(), Fit().Hash());
  EXPECT_EQ(VerifySeal(Fit(), artifact.directory), artifact.content_hash);
  EXPECT_FALSE(VerifySeal(Id("fit", "{}"), artifact.directory));
  EXPECT_FALSE(ReadSeal(dir.path()));
}

TEST(StageCacheTest, ComputesOnceAndReusesAcrossPrograms) {
  const TestDir dir;
  Counter counter;
  StageCache first(dir.path());
  EXPECT_FALSE(first.HasStage(Fit()));
  const Artifact made = first.RunStage(Fit(), counter.writer());
  EXPECT_TRUE(first.HasStage(Fit()));
  StageCache second(dir.path());
  const Artifact found = second.RunStage(Fit(), counter.writer());
  EXPECT_EQ(counter.calls, 1);
  EXPECT_EQ(found.directory, made.directory);
  EXPECT_EQ(found.content_hash, made.content_hash);
  EXPECT_EQ(ReadFile(found.File("out.txt")), "result");
  EXPECT_THAT(Outcomes(first), ElementsAre(StageOutcome::kComputed));
  EXPECT_THAT(Outcomes(second), ElementsAre(StageOutcome::kReused));
}

TEST(StageCacheTest, RemembersHowLongAStageTook) {
  const TestDir dir;
  const auto slow = [](const std::string& directory) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    WriteFileAtomically(directory + "/out.txt", "result");
  };
  StageCache first(dir.path()), second(dir.path());
  const Artifact artifact = first.RunStage(Fit(), slow);
  second.RunStage(Fit(), slow);
  ASSERT_TRUE(second.records().front().computed_seconds);
  EXPECT_GE(*second.records().front().computed_seconds, 0.02);
  EXPECT_EQ(first.records().front().computed_seconds, second.records().front().computed_seconds);
  EXPECT_GE(first.records().front().cpu_seconds, 0.0);
  EXPECT_GT(first.records().front().peak_memory_bytes, 0);
  EXPECT_EQ(second.records().front().cpu_seconds, 0.0);

  // a cache of a program that kept no such record
  std::filesystem::remove(artifact.directory + ".seconds");
  StageCache third(dir.path());
  third.RunStage(Fit(), slow);
  EXPECT_EQ(third.records().front().outcome, StageOutcome::kReused);
  EXPECT_FALSE(third.records().front().computed_seconds);
}

TEST(StageCacheTest, ContentHashDependsOnBytesAndNamesOnly) {
  const TestDir dir;
  StageCache cache(dir.path());
  Counter counter;
  const std::string a = cache.RunStage(Id("a", "1"), counter.writer()).content_hash;
  const std::string b = cache.RunStage(Id("b", "2"), counter.writer()).content_hash;
  counter.content = "resulT";
  const std::string c = cache.RunStage(Id("c", "3"), counter.writer()).content_hash;
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(StageCacheTest, AKilledTryIsResumedFromItsCheckpoint) {
  const TestDir dir;
  StageCache cache(dir.path());
  const auto write = [](const std::string& directory) {
    const std::string checkpoint = directory + "/" + kCheckpointFolder + "/state";
    if (!std::filesystem::exists(checkpoint)) {
      WriteFileAtomically(checkpoint, "half");
      WriteFileAtomically(directory + "/.out.txt.1.0.tmp", "left by a killed program");
      throw Interrupted();
    }
    WriteFileAtomically(directory + "/out.txt", ReadFile(checkpoint) + "+half");
  };
  EXPECT_THROW(cache.RunStage(Fit(), write), Interrupted);
  EXPECT_FALSE(cache.HasStage(Fit()));
  const Artifact artifact = cache.RunStage(Fit(), write);
  EXPECT_EQ(ReadFile(artifact.File("out.txt")), "half+half");

  // the same bytes as an undisturbed run
  const TestDir other;
  Counter counter;
  counter.content = "half+half";
  StageCache undisturbed(other / "cache");
  EXPECT_EQ(undisturbed.RunStage(Fit(), counter.writer()).content_hash, artifact.content_hash);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(artifact.directory)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("out.txt", "stage.json"));
}

TEST(StageCacheTest, ADamagedArtifactIsReplaced) {
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  const Artifact artifact = cache.RunStage(Fit(), counter.writer());
  WriteFileAtomically(artifact.File("out.txt"), "rEsult");
  cache.RunStage(Fit(), counter.writer());
  EXPECT_EQ(ReadFile(artifact.File("out.txt")), "result");
  std::filesystem::remove(artifact.File("stage.json"));
  cache.RunStage(Fit(), counter.writer());
  WriteFileAtomically(artifact.File("extra"), "");
  cache.RunStage(Fit(), counter.writer());
  EXPECT_EQ(counter.calls, 4);
  EXPECT_THAT(Outcomes(cache), ElementsAre(StageOutcome::kComputed, StageOutcome::kReplaced,
                                           StageOutcome::kReplaced, StageOutcome::kReplaced));
}

TEST(StageCacheTest, AProgramKilledAfterSealingNeedsNoNewWork) {
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  const Artifact artifact = cache.RunStage(Fit(), counter.writer());
  std::filesystem::rename(artifact.directory, artifact.directory + ".work");
  cache.RunStage(Fit(), counter.writer());
  EXPECT_EQ(counter.calls, 1);
  EXPECT_TRUE(std::filesystem::exists(artifact.File("out.txt")));
}

TEST(StageCacheTest, ConcurrentRunsComputeOnce) {
  const TestDir dir;
  std::atomic<int> calls = 0;
  const auto write = [&](const std::string& directory) {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    WriteFileAtomically(directory + "/out.txt", "x");
  };
  std::vector<std::string> hashes(4);
  std::vector<std::thread> threads;
  for (std::string& hash : hashes) {
    threads.emplace_back([&] {
      // caches of their own, as separate processes would have
      StageCache cache(dir.path());
      hash = cache.RunStage(Fit(), write).content_hash;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(hashes, testing::Each(hashes[0]));
}

TEST(StageCacheTest, ReadersOfAnArtifactDoNotWaitForOneAnother) {
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  const Artifact artifact = cache.RunStage(Fit(), counter.writer());
  const auto reader = FileLock::Try(artifact.directory + ".lock", LockKind::kShared);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(cache.RunStage(Fit(), counter.writer()).content_hash, artifact.content_hash);
}

TEST(StageCacheTest, AnArtifactThatAppearsMeanwhileIsTaken) {
  // as on a file system that shows late what another machine has published
  const TestDir dir;
  Counter counter;
  StageCache cache(dir / "cache"), other(dir / "other");
  const Artifact published = other.RunStage(Fit(), counter.writer());
  const Artifact artifact = cache.RunStage(Fit(), [&](const std::string& directory) {
    WriteFileAtomically(directory + "/out.txt", "result");
    std::string there = directory;
    there.resize(there.size() - std::string(".work").size());
    std::filesystem::copy(published.directory, there, std::filesystem::copy_options::recursive);
  });
  EXPECT_EQ(artifact.content_hash, published.content_hash);
  EXPECT_FALSE(std::filesystem::exists(artifact.directory + ".work"));
}

TEST(StageCacheTest, ReadsTheTimeThatAnEarlierVersionKept) {
  const TestDir dir;
  WriteFileAtomically(CostFileOf(dir / "a"), "12.5");
  WriteFileAtomically(CostFileOf(dir / "b"), "not a number");
  ASSERT_TRUE(ReadCost(dir / "a"));
  EXPECT_EQ(ReadCost(dir / "a")->seconds, 12.5);
  EXPECT_FALSE(ReadCost(dir / "a")->cpu_seconds);
  EXPECT_FALSE(ReadCost(dir / "b"));
  EXPECT_FALSE(ReadCost(dir / "none"));
}

TEST(StageCacheTest, AnImpossibleRootIsADataError) {
  const TestDir dir;
  WriteFileAtomically(dir / "f", "x");
  EXPECT_THAT([&] { StageCache cache(dir / "f/cache"); },
              ThrowsMessage<DataError>(HasSubstr("cannot create the directory")));
}

TEST(StageCacheTest, NamesWhatStandsInItsWay) {
  namespace fs = std::filesystem;
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  const std::string entry = cache.RunStage(Fit(), counter.writer()).directory;
  const auto expect_refused = [&](const std::string& path) {
    EXPECT_THAT(
        [&] { cache.RunStage(Fit(), counter.writer()); },
        ThrowsMessage<DataError>(testing::AllOf(HasSubstr(path), HasSubstr("it may be deleted"))));
    fs::remove_all(path);
    EXPECT_NO_THROW(cache.RunStage(Fit(), counter.writer()));
  };
  fs::remove(entry + ".lock");
  fs::create_directory(entry + ".lock");
  expect_refused(entry + ".lock");
  fs::remove(entry + ".lock");
  fs::create_symlink("nowhere/at/all", entry + ".lock");
  expect_refused(entry + ".lock");
  for (const char* target : {"", "nowhere/at/all"}) {
    fs::remove_all(entry);
    if (*target == '\0') {
      WriteFileAtomically(entry + ".work", "a file");
    } else {
      fs::create_symlink(target, entry + ".work");
    }
    expect_refused(entry + ".work");
  }
  // what stands in place of the artifact itself is replaced
  fs::remove_all(entry);
  fs::create_symlink("nowhere/at/all", entry);
  EXPECT_EQ(ReadFile(cache.RunStage(Fit(), counter.writer()).directory + "/out.txt"), "result");
  fs::remove_all(entry);
  WriteFileAtomically(entry, "a file");
  EXPECT_EQ(ReadFile(cache.RunStage(Fit(), counter.writer()).directory + "/out.txt"), "result");
}

TEST(StageCacheTest, AnInterruptBeforeTheFirstStepStopsIt) {
  const TestDir dir;
  Counter counter;
  StageCache cache(dir.path());
  InterruptRequested() = true;
  EXPECT_THROW(cache.RunStage(Fit(), counter.writer()), Interrupted);
  InterruptRequested() = false;
  EXPECT_EQ(counter.calls, 0);
  cache.RunStage(Fit(), counter.writer());
  EXPECT_EQ(counter.calls, 1);
}

}  // namespace
}  // namespace lfiw::core
