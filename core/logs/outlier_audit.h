#ifndef LFIW_CORE_LOGS_OUTLIER_AUDIT_H_
#define LFIW_CORE_LOGS_OUTLIER_AUDIT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"
#include "core/rng.h"

namespace lfiw::core {

// Finds single numbers of a log that are out of all proportion to the others of their column: a
// sensor's fault or a mark for a missing value, which a mean or a fit follows. A number is held
// against the middle 98 % of a random sample of its column.
class OutlierAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  // The worst columns with the place of their worst number.
  std::vector<Finding> Findings() const;

 private:
  struct Place {
    double value = 0.0;
    std::int64_t episode = 0, step = 0;
  };
  struct Column {
    std::vector<float> sample;  // of the finite ones
    std::int64_t count = 0;
    Place low, high;
  };
  static void Consider(Column& column, const Place& place, std::uint64_t draw);
  static void Judge(const std::string& name, const Column& column,
                    std::vector<std::pair<double, std::string>>& found);

  std::int64_t episodes_ = 0;
  std::vector<Column> observations_, actions_;
  Column reward_, density_;
  Stream stream_{0, "outlier sample"};
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_OUTLIER_AUDIT_H_
