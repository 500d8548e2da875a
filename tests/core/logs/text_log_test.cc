#include "core/logs/text_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "tests/core/logs/text_samples.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Records without a file.
class ListedRecords final : public RecordSource {
 public:
  explicit ListedRecords(std::vector<StepRecord> records) : records_(std::move(records)) {}
  std::optional<StepRecord> Next() override {
    if (at_ == records_.size()) return std::nullopt;
    return records_[at_++];
  }
  std::int64_t line() const override { return static_cast<std::int64_t>(at_); }

 private:
  std::vector<StepRecord> records_;
  std::size_t at_ = 0;
};

StepRecord Step(float observation, double reward) {
  StepRecord record;
  record.observation = {observation};
  record.action = {0.5f};
  record.reward = reward;
  return record;
}

TextFormat Listed(const std::vector<StepRecord>& records) {
  return {.name = "listed", .open = [records] { return std::make_unique<ListedRecords>(records); }};
}

TEST(TextLog, WithoutNamesAFlagEndsAnEpisode) {
  std::vector<StepRecord> records = {Step(1, 10), Step(2, 20), Step(3, 30), Step(4, 40)};
  records[1].terminated = true;
  records[3].truncated = true;
  records[1].next_observation = {9};
  records[3].next_observation = {8};
  const auto reader = OpenTextLog("log", Listed(records));
  const EpisodeBatch log = reader->Next(100);
  EXPECT_THAT(log.offsets, ElementsAre(0, 2, 4));
  EXPECT_THAT(log.terminated, ElementsAre(1, 0));
  EXPECT_EQ(log.observations, (MatrixF{{1.0f}, {2.0f}, {9.0f}, {3.0f}, {4.0f}, {8.0f}}));
  EXPECT_EQ(reader->Next(100).episodes(), 0);
}

TEST(TextLog, BatchesHoldWholeEpisodesUpToTheStepsAskedFor) {
  std::vector<StepRecord> records;
  for (const char* episode : {"a", "a", "a", "b", "b", "c", "c"}) {
    records.push_back(Step(1, 1));
    records.back().episode = episode;
    records.back().next_observation = {1};
  }
  const auto reader = OpenTextLog("log", Listed(records));
  EXPECT_THAT(reader->Next(1).offsets, ElementsAre(0, 3)) << "at least one episode";
  EXPECT_THAT(reader->Next(4).offsets, ElementsAre(0, 2, 4));
  EXPECT_EQ(reader->Next(4).episodes(), 0);
}

TEST(TextLog, ANextObservationThatDoesNotContinueIsCountedAndNamed) {
  std::vector<StepRecord> records = {Step(1, 0), Step(2, 0), Step(3, 0)};
  records[0].next_observation = {2};
  records[1].next_observation = {7};
  records[2].next_observation = {4};
  records[2].terminated = true;
  const auto reader = OpenTextLog("log", Listed(records));
  reader->Next(100);
  EXPECT_EQ(reader->counts().continuity_checked, 2);
  EXPECT_EQ(reader->counts().continuity_broken, 1);
  EXPECT_EQ(reader->counts().first_broken, "episode 0, step 1");
}

TEST(TextLog, StepsOfDifferentKindsInOneFileAreRefused) {
  const auto error = [](const StepRecord& second) {
    std::vector<StepRecord> records = {Step(1, 1), second};
    OpenTextLog("log", Listed(records))->Next(100);
  };
  StepRecord other = Step(2, 1);
  other.observation = {2, 3};
  EXPECT_THAT([&] { error(other); },
              ThrowsMessage<DataError>(HasSubstr("2 numbers in an observation, expected 1")));
  other = Step(2, 1);
  other.log_density = -1.0;
  EXPECT_THAT([&] { error(other); },
              ThrowsMessage<DataError>(HasSubstr("step 1: a behavior probability, the first")));
  other = Step(2, 1);
  other.action.clear();
  other.discrete_action = 1;
  EXPECT_THAT([&] { error(other); },
              ThrowsMessage<DataError>(HasSubstr("discrete and continuous")));
}

TEST(TextLog, LinesOutOfOrderAreNamed) {
  const std::string header = "episode,t,obs_0,action_0,reward,terminated\n";
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,0\n0,2,1,1,1,0\n"),
              HasSubstr("line 3: step 2 follows step 0"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,0\n1,0,1,1,1,0\n0,1,1,1,1,0\n"),
              HasSubstr("line 4: episode 0 occurs again"));
  EXPECT_THAT(LoadError(header + "0,0,1,1,1,1\n0,1,1,1,1,0\n"),
              HasSubstr("goes on after step 0 ended it"));
  EXPECT_THAT(LoadError(header), HasSubstr("no step in the file"));
}

// Conformance case C9.
TEST(TextLog, AnImpossibleBehaviorProbabilityNamesEpisodeAndStep) {
  for (const char* probability : {"0", "-0.5", "nan", "7.99"}) {
    EXPECT_THAT(LoadError(std::string("episode,obs_0,action,reward,prob_0,terminated\n"
                                      "0,1,0,1,1,0\n0,2,0,1,") +
                          probability + ",1\n"),
                AllOf(HasSubstr("episode 0, step 1"), HasSubstr("probability")));
  }
}

TEST(TextLog, ANextObservationOfTheNextEpisodeIsNotUsed) {
  std::vector<StepRecord> records;
  for (const float first : {100.0f, 200.0f, 300.0f}) {
    for (const float t : {0.0f, 1.0f}) {
      records.push_back(Step(first + t, 1));
      records.back().next_observation = {t == 0.0f ? first + 1.0f : first + 100.0f};
    }
    records.back().terminated = first < 300.0f;
    records.back().truncated = first == 300.0f;
  }
  const auto reader = OpenTextLog("log", Listed(records));
  const EpisodeBatch log = reader->Next(100);
  EXPECT_THAT(log.offsets, ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(log.end_unrecorded, ElementsAre(1, 1, 1));
  EXPECT_EQ(reader->counts().reset_ends, 3);
}

}  // namespace
}  // namespace lfiw::core
