#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TRAINING_HISTORY_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TRAINING_HISTORY_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/layers.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// A training's history as {"steps": [entries], "figures": [names], "values": [entries * names]}.
nlohmann::json HistoryJson(const TrainingHistory& history);

// Throws DataError for anything else; that of ReadHistory names the file.
TrainingHistory HistoryFromJson(const nlohmann::json& json);
TrainingHistory ReadHistory(const std::string& path);

// Its entries as lines of metrics.jsonl.
std::string MetricLines(const TrainingHistory& history, const std::string& series);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TRAINING_HISTORY_H_
