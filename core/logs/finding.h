#ifndef LFIW_CORE_LOGS_FINDING_H_
#define LFIW_CORE_LOGS_FINDING_H_

#include <string>

namespace lfiw::core {

enum class Severity {
  kNote,
  kWarning,  // estimates may be wrong
  kError,    // estimates will be wrong, or impossible
};
const char* SeverityName(Severity severity);

// One thing found in a log. `code` is stable, for programs: "reward_shifted".
struct Finding {
  Severity severity = Severity::kNote;
  std::string code;
  std::string text;
  std::string cure;  // may be empty
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_FINDING_H_
