#ifndef LFIW_CORE_RUN_HOST_NAME_H_
#define LFIW_CORE_RUN_HOST_NAME_H_

#include <string>

namespace lfiw::core {

// The name of this machine; "unknown" where it has none.
std::string HostName();

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_HOST_NAME_H_
