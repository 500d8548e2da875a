#include "experiments/presentation/event_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// What RecordWriter and event_pb2 of tensorboard 2.21.0 write for the same events, with a
// wall_time of 0 written out.
constexpr const char* kHeader =
    "1800000000000000a37f4b220900000000000000001a0d627261696e2e4576656e743a32eedf28a3";
constexpr const char* kPoint =
    "2c00000000000000f4aecc4509000000000000000010ac022a1e0a1c0a1564796e616d69637320302f747261696e5f"
    "6c6f7373150000803e495a63c2";

TEST(EventFile, HasTheBytesThatTensorboardWrites) {
  EventFile events;
  EXPECT_EQ(Hex(events.bytes()), kHeader);
  events.Add("dynamics 0/train_loss", 300, 0.25);
  EXPECT_EQ(Hex(events.bytes()), std::string(kHeader) + kPoint);
}

TEST(EventsOfMetrics, TakesEveryNumberOfALine) {
  EventFile expected;
  expected.Add("dynamics 0/train_loss", 300, 0.25);
  expected.Add("dynamics 0/validation_loss", 300, 0.5);
  EXPECT_EQ(EventsOfMetrics("{\"series\": \"dynamics 0\", \"step\": 300, \"note\": \"x\", "
                            "\"train_loss\": 0.25, \"validation_loss\": 0.5}\n"),
            expected.bytes());
  EXPECT_EQ(EventsOfMetrics(""), EventFile().bytes());
}

TEST(EventsOfMetrics, RefusesALineWithoutSeries) {
  for (const char* line : {"{\"step\": 1}", "[1]", "not JSON"}) {
    EXPECT_THAT([&] { EventsOfMetrics(line); }, ThrowsMessage<DataError>(HasSubstr(line)));
  }
}

TEST(WriteMetrics, LeavesCurvesForPeopleWithAndWithoutTensorboard) {
  const TestDir dir;
  const std::string curve = "{\"series\": \"a\", \"step\": 1, \"loss\": 2}\n";
  const std::string estimate = "{\"series\": \"wis\", \"step\": 0, \"value\": 3}\n";
  WriteMetrics(RunDirectory(dir.path()), curve, estimate);
  EXPECT_EQ(ReadFile(dir / "metrics.jsonl"), curve);
  EXPECT_EQ(ReadFile(dir / "events.out.tfevents.0.lfiw"), EventsOfMetrics(curve + estimate));
}

}  // namespace
}  // namespace lfiw::experiments
