#ifndef LFIW_EXPERIMENTS_PRESENTATION_JSON_OBJECT_H_
#define LFIW_EXPERIMENTS_PRESENTATION_JSON_OBJECT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// Typed reading of one object of a JSON document that outlives it. A member that is absent, null or
// not finite is missing; one of another type throws DataError with its path, such as
// "report.json: rows[3].value: found a string, expected a number or null".
class JsonObject {
 public:
  // `path` names the object in messages.
  JsonObject(const nlohmann::json& value, std::string path);

  bool Has(const std::string& key) const { return Find(key) != nullptr; }
  std::optional<double> Number(const std::string& key) const;
  std::string Text(const std::string& key) const;  // "" when missing
  bool Flag(const std::string& key) const;         // false when missing
  // Missing entries become NaN, a missing member an empty vector.
  std::vector<double> Numbers(const std::string& key) const;
  // As Numbers, but throws DataError unless the member is missing or has `size` entries.
  std::vector<double> Numbers(const std::string& key, std::size_t size) const;
  std::vector<std::string> Texts(const std::string& key) const;
  std::optional<JsonObject> Object(const std::string& key) const;
  std::vector<JsonObject> Objects(const std::string& key) const;
  // The names of the members, in the document's order.
  std::vector<std::string> Keys() const;
  // A string as it is, anything else as compact JSON; "" when missing.
  std::string AnyText(const std::string& key) const;

  const std::string& path() const { return path_; }

 private:
  const nlohmann::json* Find(const std::string& key) const;
  const nlohmann::json* FindArray(const std::string& key) const;
  std::string PathOf(const std::string& key) const;

  const nlohmann::json* value_;
  std::string path_;
};

// A number that JsonObject reads back: null for one that is missing or not finite.
nlohmann::json NumberOrNull(double value);
nlohmann::json NumberOrNull(const std::optional<double>& value);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_JSON_OBJECT_H_
