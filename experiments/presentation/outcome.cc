#include "experiments/presentation/outcome.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/logs/line_reader.h"
#include "experiments/presentation/verdict_colors.h"

namespace lfiw::experiments {

int Show(const Outcome& outcome, OutputForm form) {
  if (form == OutputForm::kText) {
    fmt::print("{}", ShowsColors() ? WithVerdictColors(outcome.text) : outcome.text);
  } else {
    // file names may hold any bytes
    fmt::print("{}\n",
               outcome.object.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return outcome.status;
}

nlohmann::ordered_json JsonOfLine(const std::string& line, std::span<const std::string> names,
                                  const std::vector<bool>& is_text) {
  const std::string_view without_end =
      std::string_view(line).substr(0, line.find_last_not_of('\n') + 1);
  const std::vector<std::string> cells = SplitCsvLine(without_end, "a row of results");
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t j = 0; j < names.size(); ++j) {
    nlohmann::ordered_json& member = object[names[j]];
    if (cells[j].empty()) continue;  // null
    if (is_text[j]) {
      member = cells[j];
    } else if (const std::optional<double> number = ParseNumber(cells[j]);
               number && std::isfinite(*number)) {
      member = nlohmann::ordered_json::parse(cells[j]);  // whole numbers stay whole
    }
  }
  return object;
}

nlohmann::ordered_json JsonOfCsv(const std::string& csv) {
  std::vector<std::string> lines;
  std::istringstream stream(csv);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const std::vector<std::string> names = SplitCsvLine(lines.front(), "the header of results");
  std::vector<bool> is_text(names.size(), false);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = SplitCsvLine(lines[i], "a row of results");
    for (std::size_t j = 0; j < names.size(); ++j) {
      is_text[j] = is_text[j] || (!cells[j].empty() && !ParseNumber(cells[j]));
    }
  }
  nlohmann::ordered_json objects = nlohmann::ordered_json::array();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    objects.push_back(JsonOfLine(lines[i], names, is_text));
  }
  return objects;
}

}  // namespace lfiw::experiments
