#include "experiments/calibration/case_outcome.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace lfiw::experiments {

using nlohmann::json;

namespace {

template <class T>
json ToJson(const T& value);
template <class T>
void FromJson(const json& in, T& value);

// JSON has no infinity.
json ToJson(double number) {
  return std::isinf(number) ? json(number > 0.0 ? "inf" : "-inf") : json(number);
}
json ToJson(const std::optional<double>& number) { return number ? ToJson(*number) : json(); }
json ToJson(const std::string& text) { return text; }
json ToJson(std::int64_t number) { return number; }
json ToJson(bool holds) { return holds; }
json ToJson(const ReturnRange& range) { return {range.low, range.high}; }

void FromJson(const json& in, double& number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  number = in.is_string() ? (in == "inf" ? kInfinity : -kInfinity) : in.get<double>();
}
void FromJson(const json& in, std::optional<double>& number) {
  if (in.is_null()) {
    number.reset();
  } else {
    FromJson(in, number.emplace());
  }
}
void FromJson(const json& in, std::string& text) { text = in; }
void FromJson(const json& in, std::int64_t& number) { number = in; }
void FromJson(const json& in, bool& holds) { holds = in; }
void FromJson(const json& in, ReturnRange& range) { range = {in.at(0), in.at(1)}; }

// Writes each field of a struct as a member of an object. An absent number is null, an absent
// struct is left out.
struct WriteMembers {
  json object = json::object();

  template <class T>
  void Field(const char* name, const T& value) {
    object[name] = ToJson(value);
  }
  void Field(const char* name, const std::optional<double>& number) {
    object[name] = ToJson(number);
  }
  template <class T>
  void Field(const char* name, const std::optional<T>& part) {
    if (part) object[name] = ToJson(*part);
  }
};

// Reads what WriteMembers wrote.
struct ReadMembers {
  const json& object;

  template <class T>
  void Field(const char* name, T& value) {
    FromJson(object.at(name), value);
  }
  void Field(const char* name, std::optional<double>& number) { FromJson(object.at(name), number); }
  template <class T>
  void Field(const char* name, std::optional<T>& part) {
    if (object.contains(name)) FromJson(object.at(name), part.emplace());
  }
};

template <class T>
json ToJson(const T& value) {
  WriteMembers writer;
  T copy = value;  // visitors may write
  copy.Visit(writer);
  return std::move(writer.object);
}

template <class T>
void FromJson(const json& in, T& value) {
  ReadMembers reader{in};
  value.Visit(reader);
}

}  // namespace

json OutcomeJson(const CaseOutcome& outcome) { return ToJson(outcome); }

CaseOutcome OutcomeFromJson(const json& in) {
  CaseOutcome outcome;
  FromJson(in, outcome);
  return outcome;
}

}  // namespace lfiw::experiments
