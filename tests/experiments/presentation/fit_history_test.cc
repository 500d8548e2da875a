#include "experiments/presentation/fit_history.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

FitHistory Example() {
  return {.steps = {10, 20}, .train_loss = {0.5, 0.25}, .validation_loss = {1.0 / 3.0, 0.4}};
}

TEST(GetHistory, ReadsWhatWasPutUnderItsPrefix) {
  const TestDir dir;
  FitHistory other = Example();
  other.train_loss = {7.0, 8.0};
  NpzFile file;
  PutHistory(Example(), "one_", file);
  PutHistory(other, "two_", file);
  file.Write(dir / "curves.npz");
  const NpzFile read = NpzFile::Read(dir / "curves.npz");
  EXPECT_EQ(GetHistory(read, "one_"), Example());
  EXPECT_EQ(GetHistory(read, "two_"), other);
  EXPECT_THROW(GetHistory(read, "three_"), DataError);
}

TEST(MetricLines, HaveALineForEveryEntry) {
  EXPECT_EQ(MetricLines(Example(), "member 1"),
            R"({"series":"member 1","step":10,"train_loss":0.5,"validation_loss":)"
            R"(0.3333333333333333})"
            "\n"
            R"({"series":"member 1","step":20,"train_loss":0.25,"validation_loss":0.4})"
            "\n");
  EXPECT_EQ(MetricLines({}, "none"), "");
}

}  // namespace
}  // namespace lfiw::experiments
