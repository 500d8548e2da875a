#ifndef LFIW_TESTS_FUZZ_MISREAD_OUTCOME_H_
#define LFIW_TESTS_FUZZ_MISREAD_OUTCOME_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/misread_case.h"

namespace lfiw::core {

// How an evaluation ended.
struct Outcome {
  std::string situation, format;
  std::string end = {};  // right, caution, do not use, error, wrong
  double truth = 0.0;
  std::string value = {};         // with its interval
  std::string message = {};       // of the error, or the verdict's reason
  std::int64_t false_errors = 0;  // findings of the audit graded error
};

// Writes the case below `folder`, evaluates it with `program` and judges the answer: right and
// caution have a value near the truth, error and do not use have a reason, all else is wrong.
Outcome RunCase(const std::string& program, const Case& c, const std::string& situation,
                const std::string& folder);

// One line of JSON, with the key that names the case; and the outcomes of a file of such lines.
std::string LineOf(const std::string& key, const Outcome& outcome);
std::map<std::string, Outcome> ReadOutcomes(const std::string& path);

// Counts how each situation ended.
std::string OutcomeTable(const std::vector<Outcome>& outcomes, const std::string& title);

}  // namespace lfiw::core

#endif  // LFIW_TESTS_FUZZ_MISREAD_OUTCOME_H_
