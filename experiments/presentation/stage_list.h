#ifndef LFIW_EXPERIMENTS_PRESENTATION_STAGE_LIST_H_
#define LFIW_EXPERIMENTS_PRESENTATION_STAGE_LIST_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage_cache.h"

namespace lfiw::experiments {

// Stages that a run will come to, known from its configuration alone.
struct ExpectedStage {
  std::string name;
  std::int64_t count = 0;
};

// Returns `found`, and behind it a stage without a key for each of those expected that `found` has
// not got: their keys follow from the content of stages that are yet to be made.
std::vector<StageState> WithExpected(std::vector<StageState> found,
                                     std::span<const ExpectedStage> expected);

// The stages as a table with their number in each state, and as an array of objects.
std::string StageListText(std::span<const StageState> stages);
nlohmann::ordered_json StageListJson(std::span<const StageState> stages);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_STAGE_LIST_H_
