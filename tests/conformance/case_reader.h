#ifndef LFIW_TESTS_CONFORMANCE_CASE_READER_H_
#define LFIW_TESTS_CONFORMANCE_CASE_READER_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/config/config.h"
#include "core/layers.h"

// Arrays and options from the JSON of the conformance cases (README.md beside this file).
namespace lfiw::ope {

using Json = nlohmann::json;

inline double ReadNumber(const Json& json) {
  // what JSON cannot say: null is missing
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (json.is_string()) return std::stod(json.get<std::string>());
  return json.get<double>();
}

inline void AppendLeaves(const Json& nested, std::vector<double>& leaves) {
  if (nested.is_array()) {
    for (const Json& item : nested) AppendLeaves(item, leaves);
  } else {
    leaves.push_back(ReadNumber(nested));
  }
}

template <std::size_t Rank>
Array<double, Rank> ReadNested(const Json& json) {
  typename Array<double, Rank>::Shape shape{};
  const Json* level = &json;
  for (std::size_t k = 0; k < Rank; ++k) {
    shape[k] = static_cast<std::int64_t>(level->size());
    level = &level->at(0);
  }
  std::vector<double> leaves;
  AppendLeaves(json, leaves);
  Array<double, Rank> array(shape);
  if (leaves.size() != array.flat().size()) throw std::runtime_error("a ragged array");
  std::copy(leaves.begin(), leaves.end(), array.flat().begin());
  return array;
}

// An array by rule: its last dimension repeats a pattern, but for its last and for single entries.
template <std::size_t Rank>
Array<double, Rank> ReadArray(const Json& json) {
  if (json.is_array()) return ReadNested<Rank>(json);
  const auto shape = json.at("shape").get<typename Array<double, Rank>::Shape>();
  Array<double, Rank> array(shape);
  std::vector<double> pattern;
  AppendLeaves(json.value("repeat", Json::array({json.value("fill", Json(0.0))})), pattern);
  const auto row = static_cast<std::size_t>(shape.back());
  for (std::size_t k = 0; k < array.flat().size(); ++k) {
    array.flat()[k] = pattern[k % row % pattern.size()];
    if (json.contains("last") && k % row + 1 == row) array.flat()[k] = ReadNumber(json["last"]);
  }
  for (const Json& entry : json.value("entries", Json::array())) {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < Rank; ++k) {
      offset = offset * static_cast<std::size_t>(shape[k]) + entry.at(k).get<std::size_t>();
    }
    array.flat()[offset] = ReadNumber(entry.at(Rank));
  }
  return array;
}

// Rows of different lengths, padded with zeros to [n, columns]; or an array given by its shape.
inline Array<double, 2> ReadRagged(const Json& json, std::int64_t columns) {
  if (!json.is_array()) return ReadArray<2>(json);
  Array<double, 2> array({static_cast<std::int64_t>(json.size()), columns});
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (static_cast<std::int64_t>(json[i].size()) > columns) {
      throw std::runtime_error("a row is too long");
    }
    for (std::size_t k = 0; k < json[i].size(); ++k) array(i, k) = ReadNumber(json[i][k]);
  }
  return array;
}

// A misspelled field would be an expectation that nobody checks.
inline void RequireKnownFields(const Json& json, const std::set<std::string>& known) {
  for (const auto& [name, value] : json.items()) {
    if (!known.contains(name)) throw std::runtime_error("unknown field " + name);
  }
}

template <class Options>
Options ReadOptions(const Json& json, const char* key) {
  Options options;
  if (json.contains(key)) ReadConfig(ParseYaml(json.at(key).dump(), key), options);
  return options;
}

}  // namespace lfiw::ope

#endif  // LFIW_TESTS_CONFORMANCE_CASE_READER_H_
