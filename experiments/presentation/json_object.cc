#include "experiments/presentation/json_object.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using Json = nlohmann::json;

[[noreturn]] void ThrowType(const std::string& path, const Json& found, const char* expected) {
  Throw<DataError>("{}: found {} {}, expected {}", path, found.is_array() ? "an" : "a",
                   found.type_name(), expected);
}

std::string EntryPath(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

double NumberOrNan(const Json& value, const std::string& path) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) ThrowType(path, value, "a number or null");
  return value.get<double>();
}

}  // namespace

JsonObject::JsonObject(const Json& value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!value.is_object()) ThrowType(path_, value, "an object");
}

const Json* JsonObject::Find(const std::string& key) const {
  const auto it = value_->find(key);
  return it == value_->end() || it->is_null() ? nullptr : &*it;
}

const Json* JsonObject::FindArray(const std::string& key) const {
  const Json* array = Find(key);
  if (array && !array->is_array()) ThrowType(PathOf(key), *array, "an array");
  return array;
}

std::string JsonObject::PathOf(const std::string& key) const {
  // the root's path is a file name, the others' a place in it
  return path_ + (path_.ends_with(".json") ? ": " : ".") + key;
}

std::optional<double> JsonObject::Number(const std::string& key) const {
  const Json* value = Find(key);
  if (!value) return std::nullopt;
  const double number = NumberOrNan(*value, PathOf(key));
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string JsonObject::Text(const std::string& key) const {
  const Json* value = Find(key);
  if (!value) return "";
  if (!value->is_string()) ThrowType(PathOf(key), *value, "a string");
  return value->get<std::string>();
}

bool JsonObject::Flag(const std::string& key) const {
  const Json* value = Find(key);
  if (!value) return false;
  if (!value->is_boolean()) ThrowType(PathOf(key), *value, "true or false");
  return value->get<bool>();
}

std::vector<double> JsonObject::Numbers(const std::string& key) const {
  std::vector<double> numbers;
  const Json* array = FindArray(key);
  if (!array) return numbers;
  for (std::size_t i = 0; i < array->size(); ++i)
    numbers.push_back(NumberOrNan((*array)[i], EntryPath(PathOf(key), i)));
  return numbers;
}

std::vector<double> JsonObject::Numbers(const std::string& key, std::size_t size) const {
  std::vector<double> numbers = Numbers(key);
  if (Has(key) && numbers.size() != size)
    Throw<DataError>("{}: found {} entries, expected {}", PathOf(key), numbers.size(), size);
  return numbers;
}

std::vector<std::string> JsonObject::Texts(const std::string& key) const {
  std::vector<std::string> texts;
  const Json* array = FindArray(key);
  if (!array) return texts;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Json& entry = (*array)[i];
    if (!entry.is_string()) ThrowType(EntryPath(PathOf(key), i), entry, "a string");
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::optional<JsonObject> JsonObject::Object(const std::string& key) const {
  const Json* value = Find(key);
  return value ? std::optional(JsonObject(*value, PathOf(key))) : std::nullopt;
}

std::vector<JsonObject> JsonObject::Objects(const std::string& key) const {
  std::vector<JsonObject> objects;
  const Json* array = FindArray(key);
  if (!array) return objects;
  for (std::size_t i = 0; i < array->size(); ++i)
    objects.emplace_back((*array)[i], EntryPath(PathOf(key), i));
  return objects;
}

std::vector<std::string> JsonObject::Keys() const {
  std::vector<std::string> keys;
  for (const auto& item : value_->items()) keys.push_back(item.key());
  return keys;
}

std::string JsonObject::AnyText(const std::string& key) const {
  const Json* value = Find(key);
  if (!value) return "";
  return value->is_string() ? value->get<std::string>()
                            : value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json NumberOrNull(const std::optional<double>& value) {
  return value ? NumberOrNull(*value) : Json();
}

}  // namespace lfiw::experiments
