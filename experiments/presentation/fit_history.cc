#include "experiments/presentation/fit_history.h"

#include <nlohmann/json.hpp>

namespace lfiw::experiments {

void PutHistory(const FitHistory& history, const std::string& prefix, NpzFile& file) {
  file.Put(prefix + "step", history.steps);
  file.Put(prefix + "train", history.train_loss);
  file.Put(prefix + "validation", history.validation_loss);
}

FitHistory GetHistory(const NpzFile& file, const std::string& prefix) {
  return {.steps = file.GetIntegers(prefix + "step"),
          .train_loss = file.GetDoubles(prefix + "train"),
          .validation_loss = file.GetDoubles(prefix + "validation")};
}

std::string MetricLines(const FitHistory& history, const std::string& series) {
  std::string lines;
  for (std::size_t i = 0; i < history.steps.size(); ++i) {
    const nlohmann::json line = {{"series", series},
                                 {"step", history.steps[i]},
                                 {"train_loss", history.train_loss[i]},
                                 {"validation_loss", history.validation_loss[i]}};
    lines += line.dump() + "\n";
  }
  return lines;
}

}  // namespace lfiw::experiments
