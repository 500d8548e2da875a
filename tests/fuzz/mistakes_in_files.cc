#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/run/atomic_file.h"
#include "tests/fuzz/mistakes.h"

namespace lfiw::core {
namespace {

void MarkEnds(StepTable& table, std::vector<std::uint8_t>& flags) {
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    flags[static_cast<std::size_t>(i)] = table.Ends(i) ? 1 : 0;
  }
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char character : text) {
    if (character == separator) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

}  // namespace

void SwapFlags(Case& c, Stream& /*stream*/) { std::swap(c.table.terminals, c.table.timeouts); }

void DropTerminals(Case& c, Stream& /*stream*/) { c.names.terminals = ""; }

void AllTimeouts(Case& c, Stream& /*stream*/) {
  MarkEnds(c.table, c.table.timeouts);
  c.table.terminals.assign(c.table.timeouts.size(), 0);
}

void AllTerminals(Case& c, Stream& /*stream*/) {
  MarkEnds(c.table, c.table.terminals);
  c.table.timeouts.assign(c.table.terminals.size(), 0);
}

void OtherNames(Case& c, Stream& stream) {
  c.names.terminals = Coin(stream) ? "finished" : "is_terminal_state";
  c.names.timeouts = Coin(stream) ? "time_is_up" : "";
  if (Coin(stream)) c.names.next_observations = "";
}

void GymnasiumNames(Case& c, Stream& stream) {
  const bool many = Coin(stream);
  c.names.terminals = many ? "terminations" : "terminated";
  c.names.timeouts = many ? "truncations" : "truncated";
  if (Coin(stream)) c.names.next_observations = "";
}

void NoFlags(Case& c, Stream& stream) {
  c.names.terminals = c.names.timeouts = "";
  if (Coin(stream)) c.names.next_observations = "";
}

void DonesAlone(Case& c, Stream& stream) {
  MarkEnds(c.table, c.table.timeouts);
  c.names.terminals = "";
  c.names.timeouts = Coin(stream) ? "dones" : "done";
}

void NoNextObservations(Case& c, Stream& /*stream*/) { c.names.next_observations = ""; }

// Empties cells of one column in three rows of a CSV file.
void BlankCells(Case& c, Stream& stream) {
  constexpr std::array kNames = {"obs_1", "action", "reward", "terminated"};
  const std::string name = kNames[stream.Below(kNames.size())];
  const std::array places = {stream.Uniform(), stream.Uniform(), stream.Uniform()};
  c.spoil = [name, places](const std::string& path) {
    std::vector<std::string> lines = Split(ReadFile(path), '\n');
    const std::vector<std::string> header = Split(lines[0], ',');
    const auto column = static_cast<std::size_t>(
        std::ranges::find_if(header, [&](const auto& cell) { return cell.starts_with(name); }) -
        header.begin());
    for (const double place : places) {
      auto& line =
          lines[1 + static_cast<std::size_t>(place * static_cast<double>(lines.size() - 3))];
      std::vector<std::string> cells = Split(line, ',');
      cells.at(column).clear();
      line = fmt::format("{}", fmt::join(cells, ","));
    }
    std::ofstream(path, std::ios::binary) << fmt::format("{}", fmt::join(lines, "\n"));
  };
}

// Exchanges the first two axes of all arrays that have them.
void TransposeAxes(Case& c, Stream& stream) {
  if (Coin(stream)) c.names.next_observations = "";
  c.spoil = [](const std::string& path) {
    NpzFile out;
    const NpzFile in = NpzFile::Read(path);
    for (const auto& [name, array] : in.arrays()) {
      NpzArray turned = array;
      if (array.shape.size() >= 2) {
        std::swap(turned.shape[0], turned.shape[1]);
        const auto rows = static_cast<std::size_t>(array.shape[0]);
        const auto columns = static_cast<std::size_t>(array.shape[1]);
        const std::size_t item = array.bytes.size() / rows / columns;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) {
            std::copy_n(array.bytes.begin() + static_cast<std::ptrdiff_t>((i * columns + j) * item),
                        item,
                        turned.bytes.begin() + static_cast<std::ptrdiff_t>((j * rows + i) * item));
          }
        }
      }
      if (name != "lengths") out.Put(name, turned);
    }
    out.Write(path);
  };
}

}  // namespace lfiw::core
