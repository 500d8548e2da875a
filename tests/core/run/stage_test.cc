#include "core/run/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/run/atomic_file.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;

// Repeats a word.
struct EchoStage {
  static constexpr StageInfo kInfo{.name = "echo", .version = 3, .layer = Layer::kModels};
  struct Key {
    std::int64_t times = 1;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("times", times, "how often");
      v.Field("seed", seed, "unused");
    }
  };
  struct Inputs {
    std::string word;
    std::vector<std::string> Hashes() const { return {word}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work) {
    const auto progress = work.StartProgress("echo", key.times, "words");
    std::string text;
    for (std::int64_t i = 0; i < key.times; ++i) {
      text += inputs.word;
      progress->Advance(1);
    }
    WriteFileAtomically(work.Checkpoints() + "/state", "dropped at the end");
    WriteFileAtomically(work.File("out.txt"), text);
  }
};

Toolchain Today() {
  return {.sources = {"core", "envs", "models", "policies", "ope"},
          .computed_with = {{"LibTorch", "1.13"}}};
}

TEST(StageCacheTest, RunsATypedStageOnce) {
  const TestDir dir;
  StageCache cache(dir.path(), Today());
  EXPECT_FALSE(cache.Has<EchoStage>({2, 0}, {"ab"}));
  const Artifact made = cache.Run<EchoStage>({2, 0}, {"ab"});
  EXPECT_EQ(ReadFile(made.File("out.txt")), "abab");
  EXPECT_TRUE(cache.Has<EchoStage>({2, 0}, {"ab"}));
  cache.Run<EchoStage>({2, 0}, {"ab"});
  EXPECT_EQ(cache.records().back().outcome, StageOutcome::kReused);
  EXPECT_EQ(cache.records().back().name, "echo");
}

TEST(IdOf, HoldsKeyInputsVersionSourcesAndLibraries) {
  const StageId id = IdOf<EchoStage>({2, 7}, {"ab"}, Today());
  EXPECT_EQ(id.name, "echo");
  EXPECT_EQ(id.key, R"({"seed":7,"times":2})");
  EXPECT_THAT(id.inputs, ElementsAre("ab"));
  EXPECT_EQ(id.version, 3);
  EXPECT_EQ(id.sources, Today().SourceHash(Layer::kModels));
  EXPECT_EQ(id.computed_with.at("LibTorch"), "1.13");
}

TEST(Toolchain, SourcesOfALayerAreItsOwnAndThoseBelow) {
  Toolchain changed = Today();
  changed.sources[static_cast<std::size_t>(Layer::kPolicies)] = "changed";
  EXPECT_EQ(changed.SourceHash(Layer::kModels), Today().SourceHash(Layer::kModels));
  EXPECT_NE(changed.SourceHash(Layer::kPolicies), Today().SourceHash(Layer::kPolicies));
  EXPECT_NE(changed.SourceHash(Layer::kOpe), Today().SourceHash(Layer::kOpe));
}

TEST(StageCacheTest, AnArtifactOfOtherCodeOrLibrariesIsNotReused) {
  const TestDir dir;
  StageCache(dir.path(), Today()).Run<EchoStage>({1, 0}, {"a"});
  Toolchain other_code = Today(), other_library = Today(), above = Today();
  other_code.sources[0] = "changed";
  other_library.computed_with["LibTorch"] = "2.4";
  above.sources[static_cast<std::size_t>(Layer::kOpe)] = "changed";
  EXPECT_FALSE(StageCache(dir.path(), other_code).Has<EchoStage>({1, 0}, {"a"}));
  EXPECT_FALSE(StageCache(dir.path(), other_library).Has<EchoStage>({1, 0}, {"a"}));
  // what the stage does not run may change
  EXPECT_TRUE(StageCache(dir.path(), above).Has<EchoStage>({1, 0}, {"a"}));
}

}  // namespace
}  // namespace lfiw::core
