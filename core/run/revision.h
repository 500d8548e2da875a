#ifndef LFIW_CORE_RUN_REVISION_H_
#define LFIW_CORE_RUN_REVISION_H_

#include <string_view>

namespace lfiw::core {

// Set at build time by cmake/LfiwRevision.cmake.
extern const std::string_view kLfiwVersion;   // "0.1.0"
extern const std::string_view kLfiwRevision;  // git's short hash, "-dirty" if modified; or empty

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_REVISION_H_
