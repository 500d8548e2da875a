#ifndef LFIW_CORE_LOGS_STEP_FIELDS_H_
#define LFIW_CORE_LOGS_STEP_FIELDS_H_

#include <string>
#include <string_view>

namespace lfiw::core {

// What a column of CSV or a field of JSON is.
enum class StepField {
  kUnknown,
  kEpisode,
  kTime,
  kObservation,
  kAction,
  kReward,
  kTerminated,
  kTruncated,
  kDone,  // an end, without what ended the episode
  kNextObservation,
  kProbability,      // of the action taken
  kProbabilityList,  // of every action
  kLogDensity,
  kAux,
};

// The field of a name, upper or lower case, under the names that other tools give it.
StepField FieldOf(std::string_view name);

// `name` in lower case (ASCII).
std::string LowerCase(std::string_view name);

// "done says that ...": why a flag such as `done` alone is refused, with the cure.
std::string DoneProblem(std::string_view name);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_STEP_FIELDS_H_
