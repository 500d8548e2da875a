#include "experiments/image_gof/training_history.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {

using nlohmann::json;

json HistoryJson(const TrainingHistory& history) {
  return {{"steps", history.steps}, {"figures", history.names}, {"values", history.values}};
}

TrainingHistory HistoryFromJson(const json& value) {
  TrainingHistory history;
  try {
    value.at("steps").get_to(history.steps);
    value.at("figures").get_to(history.names);
    value.at("values").get_to(history.values);
  } catch (const json::exception& error) {
    Throw<DataError>("not the history of a training: {}", error.what());
  }
  if (history.values.size() != history.steps.size() * history.names.size()) {
    Throw<DataError>("a training's history has {} values, expected {} for {} entries of {}",
                     history.values.size(), history.steps.size() * history.names.size(),
                     history.steps.size(), history.names.size());
  }
  return history;
}

TrainingHistory ReadHistory(const std::string& path) {
  const json value = ReadJson(path);
  try {
    return HistoryFromJson(value);
  } catch (const DataError& error) {
    Throw<DataError>("{}: {}", path, error.what());
  }
}

std::string MetricLines(const TrainingHistory& history, const std::string& series) {
  std::string lines;
  for (std::int64_t e = 0; e < std::ssize(history.steps); ++e) {
    json line = {{"series", series}, {"step", history.steps[static_cast<std::size_t>(e)]}};
    for (std::int64_t f = 0; f < std::ssize(history.names); ++f) {
      line[history.names[static_cast<std::size_t>(f)]] = history.Value(e, f);
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

}  // namespace lfiw::experiments
