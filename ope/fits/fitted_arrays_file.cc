#include "ope/fits/fitted_arrays_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"

namespace lfiw::ope {
namespace {

constexpr const char* kFormat = "format";
constexpr std::int64_t kFormatVersion = 1;

template <std::size_t Rank>
void PutArray(const std::string& name, const Array<double, Rank>& array, NpzFile& file) {
  if (array.empty()) return;
  const std::span<const double> values = array.flat();
  NpzArray out{.type = "f8",
               .shape = {array.shape().begin(), array.shape().end()},
               .bytes = std::vector<std::byte>(values.size_bytes())};
  std::memcpy(out.bytes.data(), values.data(), values.size_bytes());
  file.Put(name, std::move(out));
}

// An array that the file may lack.
template <std::size_t Rank>
Array<double, Rank> GetArray(const NpzFile& file, const std::string& name,
                             const std::string& path) {
  if (!file.Has(name)) return {};
  const std::vector<std::int64_t>& shape = file.arrays().at(name).shape;
  if (shape.size() != Rank) {
    Throw<DataError>("{}: {} has {} dimensions, expected {}", path, name, shape.size(), Rank);
  }
  std::array<std::int64_t, Rank> sizes{};
  std::ranges::copy(shape, sizes.begin());
  Array<double, Rank> array(sizes);
  std::ranges::copy(file.GetDoubles(name), array.flat().begin());
  return array;
}

std::string Joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// NAME of an entry "kind.NAME"; none if it is of another kind.
std::optional<std::string> NameIn(const std::string& entry, const std::string& kind) {
  if (!entry.starts_with(kind + ".")) return std::nullopt;
  return entry.substr(kind.size() + 1);
}

void PutValues(const std::string& name, const ValueArrays& values, NpzFile& file) {
  PutArray("values." + name + ".q", values.q, file);
  PutArray("values." + name + ".v", values.v, file);
  PutArray("values." + name + ".v_fit", values.v_fit, file);
}

ValueArrays GetValues(const NpzFile& file, const std::string& name, const std::string& path) {
  const std::string prefix = "values." + name;
  return {GetArray<2>(file, prefix + ".q", path), GetArray<2>(file, prefix + ".v", path),
          GetArray<2>(file, prefix + ".v_fit", path)};
}

}  // namespace

void SaveFittedArrays(const FittedArrays& arrays, const std::string& path) {
  NpzFile file;
  file.Put(kFormat, std::vector<std::int64_t>{kFormatVersion});
  for (const auto& [name, values] : arrays.values) PutValues(name, values, file);
  for (const auto& [name, array] : arrays.log_ratios) PutArray("log_ratios." + name, array, file);
  for (const auto& [name, array] : arrays.weights) PutArray("weights." + name, array, file);
  for (const auto& [name, notes] : arrays.notes) {
    if (!notes.empty()) file.Put("notes." + name, Joined(notes));
  }
  for (const auto& [name, reason] : arrays.missing) file.Put("missing." + name, reason);
  PutArray("model_rewards", arrays.model_rewards, file);
  PutArray("model_log_weights", arrays.model_log_weights, file);
  if (!arrays.model_alive.empty()) file.Put("model_alive", arrays.model_alive);
  file.Write(path);
}

FittedArrays LoadFittedArrays(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  if (file.GetIntegers(kFormat) != std::vector<std::int64_t>{kFormatVersion}) {
    Throw<DataError>("{}: fitted arrays of another format than {}", path, kFormatVersion);
  }
  FittedArrays out;
  for (const auto& [entry, array] : file.arrays()) {
    if (const auto name = NameIn(entry, "values"); name && name->ends_with(".q")) {
      const std::string of = name->substr(0, name->size() - 2);
      out.values[of] = GetValues(file, of, path);
    } else if (const auto ratios = NameIn(entry, "log_ratios")) {
      out.log_ratios[*ratios] = GetArray<2>(file, entry, path);
    } else if (const auto weights = NameIn(entry, "weights")) {
      out.weights[*weights] = GetArray<2>(file, entry, path);
    } else if (const auto notes = NameIn(entry, "notes")) {
      out.notes[*notes] = Lines(file.GetText(entry));
    } else if (const auto missing = NameIn(entry, "missing")) {
      out.missing[*missing] = file.GetText(entry);
    }
  }
  out.model_rewards = GetArray<3>(file, "model_rewards", path);
  out.model_log_weights = GetArray<4>(file, "model_log_weights", path);
  if (file.Has("model_alive")) out.model_alive = file.GetDoubles("model_alive");
  return out;
}

}  // namespace lfiw::ope
