#include "experiments/presentation/stage_costs.h"

#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

StageRecord RecordOf(const std::string& name, StageOutcome outcome, double cpu_seconds,
                     double seconds) {
  return {.name = name,
          .key = "",
          .content_hash = "",
          .outcome = outcome,
          .seconds = seconds,
          .cpu_seconds = cpu_seconds,
          .peak_memory_bytes = 300 << 20};
}

TEST(StageCostTableTest, ListsStagesByCostAndWhatIsLeft) {
  const std::string table =
      StageCostTable({RecordOf("log", StageOutcome::kReused, 0.0, 0.2),
                      RecordOf("classifier", StageOutcome::kComputed, 2.0, 1.5),
                      RecordOf("classifier", StageOutcome::kComputed, 2.5, 1.5),
                      RecordOf("dynamics", StageOutcome::kComputed, 20.0, 11.0)},
                     {.cpu_seconds = 26.0, .peak_memory_bytes = 400 << 20});
  EXPECT_EQ(table,
            "stage       runs  kept  CPU s  wall s  peak memory\n"
            "----------  ----  ----  -----  ------  -----------\n"
            "dynamics       1     0   20.0    11.0  300.0 MiB\n"
            "classifier     2     0    4.5     3.0  300.0 MiB\n"
            "log            1     1    0.0     0.2  300.0 MiB\n"
            "all else                  1.5\n"
            "the run                  26.0          400.0 MiB\n");
}

}  // namespace
}  // namespace lfiw::experiments
