#include "experiments/cli/verb_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/cli/small_program.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const VerbOption& Named(const Verb& verb, const std::string& name) {
  for (const VerbOption& option : verb.options) {
    if (option.names.back() == name) return option;
  }
  throw std::out_of_range(name);
}

class VerbTree : public ::testing::Test {
 protected:
  Verb program_ = SmallProgram().Read();
  Verb run_ = program_.verbs.at(0);
};

TEST_F(VerbTree, HasVerbsInsideVerbsButNothingHidden) {
  EXPECT_EQ(program_.name, "small");
  ASSERT_EQ(program_.verbs.size(), 2U);
  const Verb& cache = program_.verbs.at(1);
  EXPECT_EQ(cache.description, "look into the cache");
  ASSERT_EQ(cache.verbs.size(), 2U);
  EXPECT_EQ(cache.verbs.at(0).name, "prune");
}

TEST_F(VerbTree, KnowsFlagsArgumentsAndWhatIsRepeated) {
  EXPECT_THAT(Named(run_, "--many").names, ElementsAre("-m", "--many"));
  EXPECT_EQ(Named(run_, "--many").value.name, "");
  EXPECT_TRUE(Named(run_, "config").is_argument);
  EXPECT_TRUE(Named(run_, "config").is_required);
  EXPECT_FALSE(Named(run_, "config").is_repeated);
  EXPECT_TRUE(Named(run_, "overrides").is_repeated);
  EXPECT_TRUE(Named(run_, "--policy").is_repeated);
  EXPECT_FALSE(Named(run_, "--policy").is_argument);
}

TEST_F(VerbTree, ReadsWhatAValueIsFromItsType) {
  EXPECT_EQ(Named(run_, "--out").value.path, PathKind::kFolder);
  EXPECT_THAT(Named(run_, "--env").value.words, ElementsAre("Ant", "Hopper-v5"));
  EXPECT_THAT(Named(run_, "--format").value.words, ElementsAre("npz", "csv"));
  const OptionValue& reward = Named(run_, "--reward").value;
  EXPECT_THAT(reward.words, ElementsAre("learned"));
  EXPECT_EQ(reward.path, PathKind::kFile);
  const OptionValue& threads = Named(run_, "--threads").value;
  EXPECT_EQ(threads.name, "INT");
  EXPECT_EQ(threads.limits, "nonnegative");
  EXPECT_THAT(threads.words, IsEmpty());
}

}  // namespace
}  // namespace lfiw::experiments
