#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLING_TEXT_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLING_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/layers.h"
#include "ope/rollouts/importance_resampling.h"

namespace lfiw::experiments {

// The checks of an importance resampled model in words, one line each, with their margins in nats.
std::vector<std::string> ConditionLines(const ResamplingConditions& conditions,
                                        const LogPartition& partition);

// The same as an object; a margin that does not exist is null beside its reason.
nlohmann::json ConditionsJson(const ResamplingConditions& conditions,
                              const LogPartition& partition);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLING_TEXT_H_
