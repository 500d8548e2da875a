#ifndef LFIW_TESTS_EVALUATED_LOG_H_
#define LFIW_TESTS_EVALUATED_LOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lfiw {

// What `lfiw evaluate` says of one policy.
struct EvaluatedLog {
  int status = -1;     // exit status, -1 if a signal ended the program
  std::string output;  // what it printed
  std::string error;   // its line "lfiw: ...", if it ended by one
  // The answer, where the status is 0.
  std::string verdict, reason;
  std::optional<double> value, low, high;
  std::optional<double> logged;           // value of the logged policy
  std::vector<std::string> audit_errors;  // findings graded error

  bool is_refused() const { return verdict == "do not use"; }
};

// Runs `program evaluate` on a log with networks as small as a linear system needs, in some seconds
// of one core. Writes below `folder`.
EvaluatedLog EvaluateLog(const std::string& program, const std::string& data,
                         const std::string& policy, std::int64_t horizon,
                         const std::string& folder);

// Whether the answer has a value near the truth: within a tenth of `size`, that of a return, or
// within a fifth where its interval holds the truth.
bool IsNear(const EvaluatedLog& answer, double truth, double size);

}  // namespace lfiw

#endif  // LFIW_TESTS_EVALUATED_LOG_H_
