#include "core/logs/repeated_episodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/logs/log_samples.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EpisodeBatch WithLongNumbers() {
  EpisodeBatch log = SampleLog({3, 2, 4});
  log.observations.array() += 0.12345f;
  return log;
}

TEST(RepeatedEpisodes, ACopyCountsOnceWhereverItStands) {
  EpisodeBatch log = WithLongNumbers();
  const std::vector<std::int64_t> order = {0, 1, 0, 2, 1, 0};
  log = SelectEpisodes(log, order);
  RepeatedEpisodes repeated;
  repeated.Add(log);
  EXPECT_THAT(repeated.repeats(), ElementsAre(2, 4, 5));
  EXPECT_EQ(DropRepeats(log), 3);
  ExpectSameLog(log, WithLongNumbers());
}

TEST(RepeatedEpisodes, AnyDifferenceMakesAnotherEpisode) {
  const std::vector<std::int64_t> twice = {0, 0};
  for (const int what : {0, 1, 2, 3}) {
    EpisodeBatch log = SelectEpisodes(WithLongNumbers(), twice);
    if (what == 0) log.observations(7, 1) += 1e-6f;
    if (what == 1) log.actions(5, 0) += 1e-6f;
    if (what == 2) log.rewards[5] += 1e-12;
    if (what == 3) log.terminated[1] ^= 1;
    RepeatedEpisodes repeated;
    repeated.Add(log);
    EXPECT_THAT(repeated.repeats(), IsEmpty()) << what;
  }
}

TEST(RepeatedEpisodes, EpisodesOfFewDigitsMayAgreeByChance) {
  const std::vector<std::int64_t> twice = {0, 0};
  EpisodeBatch log = SelectEpisodes(SampleLog({3}), twice);
  EXPECT_EQ(DropRepeats(log), 0);
  EXPECT_EQ(log.episodes(), 2);
}

}  // namespace
}  // namespace lfiw::core
