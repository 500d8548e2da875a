#ifndef LFIW_EXPERIMENTS_PRESENTATION_OPEN_PAGE_H_
#define LFIW_EXPERIMENTS_PRESENTATION_OPEN_PAGE_H_

#include <string>

#include "core/layers.h"

namespace lfiw::experiments {

// Opens a file in the user's browser by `xdg-open` and waits until that program has handed it over.
// Throws ProgramError that names the file when there is no such program or it fails.
void OpenPage(const std::string& path);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_OPEN_PAGE_H_
