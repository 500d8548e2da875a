#ifndef LFIW_EXPERIMENTS_PRESENTATION_VERSIONS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_VERSIONS_H_

#include <map>
#include <string>

#include "core/layers.h"

namespace lfiw::experiments {

// The libraries that results depend on, by name: the versions found at run time where the library
// tells, else those compiled against.
std::map<std::string, std::string> LibraryVersions();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_VERSIONS_H_
