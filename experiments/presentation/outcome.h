#ifndef LFIW_EXPERIMENTS_PRESENTATION_OUTCOME_H_
#define LFIW_EXPERIMENTS_PRESENTATION_OUTCOME_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/csv_columns.h"

namespace lfiw::experiments {

// What a verb or an experiment has to say at its end, once for people and once for programs.
struct Outcome {
  int status = 0;                  // of the program
  std::string text = {};           // whole lines
  nlohmann::ordered_json object =  // the same numbers, unrounded
      nlohmann::ordered_json::object();
};

enum class OutputForm { kText, kJson };

// Prints the text, or one JSON object and nothing else, on standard output. Returns the status.
int Show(const Outcome& outcome, OutputForm form);

// Makes an object of a line of a CSV file. cells and is_text have the length of names; an empty
// cell is null, a text stays a text even where it looks like a number.
nlohmann::ordered_json JsonOfLine(const std::string& line, std::span<const std::string> names,
                                  const std::vector<bool>& is_text);

// Makes an array of objects of what would be the lines of a CSV file, with its columns as members.
template <class Row, class Rows>
nlohmann::ordered_json JsonOfRows(const CsvColumns<Row>& columns, const Rows& rows) {
  std::vector<std::string> names;
  std::vector<bool> is_text;
  for (const CsvColumn<Row>& column : columns.columns()) {
    names.push_back(column.name);
    is_text.push_back(column.is_text);
  }
  nlohmann::ordered_json objects = nlohmann::ordered_json::array();
  for (const Row& row : rows) objects.push_back(JsonOfLine(columns.Line(row), names, is_text));
  return objects;
}

// Makes an array of objects of a CSV file with a header, for tables whose texts are words: a column
// that holds numbers alone is one of numbers.
nlohmann::ordered_json JsonOfCsv(const std::string& csv);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_OUTCOME_H_
