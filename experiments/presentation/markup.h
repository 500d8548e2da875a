#ifndef LFIW_EXPERIMENTS_PRESENTATION_MARKUP_H_
#define LFIW_EXPERIMENTS_PRESENTATION_MARKUP_H_

#include <string>
#include <string_view>

#include "core/layers.h"

namespace lfiw::experiments {

// Text from outside (names in a log, messages, labels) as one line that is valid in UTF-8, XML and
// HTML: control characters and line breaks become spaces, bytes that are not UTF-8 become U+FFFD.
std::string CleanText(std::string_view text);

// CleanText with the five characters that mean something in HTML and XML written as entities; safe
// as element content and inside quoted attributes.
std::string EscapeMarkup(std::string_view text);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_MARKUP_H_
