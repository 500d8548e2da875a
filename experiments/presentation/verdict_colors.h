#ifndef LFIW_EXPERIMENTS_PRESENTATION_VERDICT_COLORS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_VERDICT_COLORS_H_

#include <string>
#include <string_view>

#include "core/layers.h"

namespace lfiw::experiments {

// Puts verdicts in color for a terminal (ECMA-48): green "trust", yellow "caution", red "do not
// use", where they end a line, as in tables, or follow "verdict: " at the begin of one.
std::string WithVerdictColors(std::string_view text);

// Whether standard output shows colors: it is a terminal that is not "dumb", and the environment
// variable NO_COLOR (no-color.org) is not set or empty.
bool ShowsColors();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_VERDICT_COLORS_H_
