#include "experiments/presentation/verdict_colors.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "ope/judgement/verdict.h"

namespace lfiw::experiments {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
// bold green, yellow and red, in order of Verdict
constexpr std::array<std::string_view, 3> kColors = {"\x1b[1;32m", "\x1b[1;33m", "\x1b[1;31m"};
constexpr auto kVerdicts = EnumNames(Verdict{});
static_assert(kColors.size() == kVerdicts.size());

std::string Colored(std::string_view line, std::size_t begin, std::size_t verdict) {
  const std::size_t length = kVerdicts[verdict].size();
  std::string colored(line.substr(0, begin));
  colored.append(kColors[verdict]).append(line.substr(begin, length)).append(kReset);
  return colored.append(line.substr(begin + length));
}

std::string ColoredLine(std::string_view line) {
  constexpr std::string_view kBegin = "verdict: ";
  for (std::size_t v = 0; v < kVerdicts.size(); ++v) {
    const std::string_view word = kVerdicts[v];
    if (line.starts_with(kBegin) && line.substr(kBegin.size()).starts_with(word)) {
      return Colored(line, kBegin.size(), v);
    }
    // a cell of a table stands apart from the one before
    const std::size_t begin = line.size() - word.size();
    if (line.ends_with(word) && line.size() >= word.size() + 2 &&
        line.substr(begin - 2, 2) == "  ") {
      return Colored(line, begin, v);
    }
  }
  return std::string(line);
}

}  // namespace

std::string WithVerdictColors(std::string_view text) {
  std::string colored;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    colored += ColoredLine(text.substr(0, end));
    if (end == std::string_view::npos) break;
    colored += '\n';
    text.remove_prefix(end + 1);
  }
  return colored;
}

bool ShowsColors() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return isatty(STDOUT_FILENO) != 0 && !dumb && (refused == nullptr || *refused == '\0');
}

}  // namespace lfiw::experiments
