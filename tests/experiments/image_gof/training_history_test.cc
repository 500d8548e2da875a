#include "experiments/image_gof/training_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TrainingHistory Example() { return {{"loss", "accuracy"}, {10, 20}, {0.5, 0.25, 0.1, 1.0 / 3.0}}; }

TEST(HistoryJson, ReadsBackToTheSameHistory) {
  const std::string text = HistoryJson(Example()).dump();
  EXPECT_EQ(HistoryFromJson(json::parse(text)), Example());
}

TEST(HistoryJson, AnythingElseIsAnError) {
  EXPECT_THAT([] { HistoryFromJson(json::parse(R"({"steps": [1]})")); },
              ThrowsMessage<DataError>(HasSubstr("not the history of a training")));
  json incomplete = HistoryJson(Example());
  incomplete["steps"].push_back(30);
  EXPECT_THAT([&] { HistoryFromJson(incomplete); },
              ThrowsMessage<DataError>(HasSubstr("4 values, expected 6 for 3 entries of 2")));
}

TEST(MetricLines, AreOneEntryALine) {
  const std::string lines = MetricLines(Example(), "run 1");
  const json first = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first,
            json::parse(R"({"series": "run 1", "step": 10, "loss": 0.5, "accuracy": 0.25})"));
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
}

}  // namespace
}  // namespace lfiw::experiments
