#include "experiments/omniglot/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/images/png.h"
#include "core/parallel.h"
#include "experiments/omniglot/area_average.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t kScanSide = 105;  // of the published drawings
constexpr std::int64_t kPackedBytes = (kScanSide * kScanSide + 7) / 8;
constexpr std::int64_t kPixels = kDrawingSide * kDrawingSide;
constexpr std::int64_t kMaxSide = 1024;
constexpr std::int64_t kMaxBytes = std::int64_t{4} << 30;

Drawings Blank(std::vector<std::string> names, std::int64_t per_class) {
  const std::int64_t count = std::ssize(names) * per_class;
  Drawings drawings{
      .images = {.count = count,
                 .height = kDrawingSide,
                 .width = kDrawingSide,
                 .channels = 1,
                 .pixels = std::vector<std::uint8_t>(static_cast<std::size_t>(count * kPixels)),
                 .labels = {}},
      .per_class = per_class,
      .names = std::move(names)};
  for (std::int64_t i = 0; i < count; ++i) drawings.images.labels.push_back(i / per_class);
  return drawings;
}

// Puts a square of any side in place i.
void Store(Bytes square, std::int64_t side, std::int64_t i, Drawings& drawings) {
  AverageAreas(
      square, side,
      std::span(drawings.images.pixels)
          .subspan(static_cast<std::size_t>(i * kPixels), static_cast<std::size_t>(kPixels)),
      kDrawingSide);
}

// The texts of a numpy array of bytes, "S7" [n], without their padding.
std::vector<std::string> Texts(const NpzArray& array) {
  const std::size_t length = array.bytes.size() / static_cast<std::size_t>(array.shape[0]);
  const auto* text = reinterpret_cast<const char*>(array.bytes.data());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.shape[0]); ++i) {
    const char* begin = text + i * length;
    texts.emplace_back(begin, std::find(begin, begin + length, '\0'));
  }
  return texts;
}

// One name for each class: what the file says, else its number.
std::vector<std::string> NamesIn(const NpzFile& file, std::int64_t classes,
                                 const std::string& path) {
  std::vector<std::string> names(static_cast<std::size_t>(classes));
  for (const char* part : {"alphabet", "character"}) {
    const auto found = file.arrays().find(part);
    if (found == file.arrays().end()) continue;
    const NpzArray& array = found->second;
    if (!array.type.starts_with('S') || array.shape != std::vector<std::int64_t>{classes}) {
      Throw<DataError>("{}: {} has type {} and shape [{}], expected byte strings [{}]", path, part,
                       array.type, fmt::join(array.shape, ", "), classes);
    }
    const std::vector<std::string> texts = Texts(array);
    for (std::size_t c = 0; c < names.size(); ++c) {
      names[c] += (names[c].empty() ? "" : " ") + texts[c];
    }
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) names[c] = fmt::format("class {}", c);
  }
  return names;
}

[[noreturn]] void RejectArray(const std::string& path, const char* name, const NpzArray& array,
                              const std::string& expected) {
  Throw<DataError>("{}: {} has type {} and shape [{}], expected {}", path, name, array.type,
                   fmt::join(array.shape, ", "), expected);
}

Bytes BytesOf(const NpzArray& array) {
  return {reinterpret_cast<const std::uint8_t*>(array.bytes.data()), array.bytes.size()};
}

Drawings FromImages(const NpzFile& file, const std::string& path) {
  const NpzArray& array = file.arrays().at("images");
  const std::vector<std::int64_t>& shape = array.shape;
  const bool fits = array.type == "u1" && shape.size() == 4 && shape[0] >= 1 && shape[1] >= 1 &&
                    shape[2] == shape[3] && shape[2] >= kDrawingSide && shape[2] <= kMaxSide;
  if (!fits) {
    RejectArray(path, "images", array,
                fmt::format("uint8 [classes, drawings, side, side], side {} to {}", kDrawingSide,
                            kMaxSide));
  }
  Drawings drawings = Blank(NamesIn(file, shape[0], path), shape[1]);
  const std::int64_t side = shape[2];
  const auto size = static_cast<std::size_t>(side * side);
  ParallelFor(drawings.images.count, [&](std::int64_t i) {
    Store(BytesOf(array).subspan(static_cast<std::size_t>(i) * size, size), side, i, drawings);
  });
  return drawings;
}

Drawings FromBits(const NpzFile& file, const std::string& path) {
  const NpzArray& array = file.arrays().at("bits");
  const std::vector<std::int64_t>& shape = array.shape;
  const bool fits = array.type == "u1" && shape.size() == 3 && shape[0] >= 1 && shape[1] >= 1 &&
                    shape[2] == kPackedBytes;
  if (!fits) {
    RejectArray(path, "bits", array,
                fmt::format("uint8 [classes, drawings, {}]: {} x {} bits of a drawing",
                            kPackedBytes, kScanSide, kScanSide));
  }
  Drawings drawings = Blank(NamesIn(file, shape[0], path), shape[1]);
  ParallelFor(drawings.images.count, [&](std::int64_t i) {
    const Bytes packed = BytesOf(array).subspan(static_cast<std::size_t>(i * kPackedBytes),
                                                static_cast<std::size_t>(kPackedBytes));
    std::vector<std::uint8_t> square(static_cast<std::size_t>(kScanSide * kScanSide));
    for (std::size_t p = 0; p < square.size(); ++p) {
      square[p] = (packed[p / 8] >> (7 - p % 8) & 1) != 0 ? 255 : 0;
    }
    Store(square, kScanSide, i, drawings);
  });
  return drawings;
}

Drawings ReadArrays(const std::string& path) {
  const NpzFile file = NpzFile::Read(path, kMaxBytes);
  if (file.Has("images")) return FromImages(file, path);
  if (file.Has("bits")) return FromBits(file, path);
  Throw<DataError>(
      "{}: holds neither `images`, uint8 [classes, drawings, side, side], nor `bits`, uint8 "
      "[classes, drawings, {}]",
      path, kPackedBytes);
}

// The numbers of class and drawing in "NNNN_MM"; nothing for other names.
std::optional<std::pair<int, int>> NumbersIn(const std::string& stem) {
  std::pair<int, int> numbers;
  const char* end = stem.data() + stem.size();
  const auto [bar, first_error] = std::from_chars(stem.data(), end, numbers.first);
  if (first_error != std::errc() || bar == end || *bar != '_') return std::nullopt;
  const auto [rest, second_error] = std::from_chars(bar + 1, end, numbers.second);
  if (second_error != std::errc() || rest != end) return std::nullopt;
  return numbers;
}

// The drawings of a class by their numbers.
struct ClassFolder {
  std::string folder, name;
  std::map<int, std::string> drawings;  // paths
};

// Adds the files of one character to the classes.
void AddCharacter(const fs::path& folder, std::map<int, ClassFolder>& classes) {
  const std::string name =
      folder.parent_path().filename().string() + " " + folder.filename().string();
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!IsPngName(entry.path().filename().string())) continue;
    const std::string path = entry.path().string();
    const auto numbers = NumbersIn(entry.path().stem().string());
    if (!numbers) Throw<DataError>("{}: expected a name such as 0709_01.png", path);
    ClassFolder& found = classes[numbers->first];
    if (found.drawings.empty()) {
      found.folder = folder.string();
      found.name = name;
    }
    if (found.folder != folder.string() || !found.drawings.emplace(numbers->second, path).second) {
      Throw<DataError>("{}: drawing {} of class {} is there twice, the other in {}", path,
                       numbers->second, numbers->first, found.folder);
    }
  }
}

std::map<int, ClassFolder> ListClasses(const std::string& root) {
  std::map<int, ClassFolder> classes;
  for (const auto& alphabet : fs::directory_iterator(root)) {
    if (!alphabet.is_directory()) continue;
    for (const auto& character : fs::directory_iterator(alphabet.path())) {
      if (character.is_directory()) AddCharacter(character.path(), classes);
    }
  }
  if (classes.empty()) {
    Throw<DataError>(
        "{}: no drawings here, expected ALPHABET/CHARACTER/NNNN_MM.png as in images_background",
        root);
  }
  return classes;
}

void StoreFile(const std::string& path, std::int64_t i, Drawings& drawings) {
  ImageBatch image = ReadPng(path);
  if (image.channels != 1 || image.height != image.width || image.height < kDrawingSide ||
      image.height > kMaxSide) {
    Throw<DataError>(
        "{}: has {} x {} pixels of {} channels, expected a gray square of side {} to "
        "{}",
        path, image.height, image.width, image.channels, kDrawingSide, kMaxSide);
  }
  // black ink on white becomes ink of value 255
  for (std::uint8_t& pixel : image.pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
  Store(image.pixels, image.height, i, drawings);
}

Drawings ReadTree(const std::string& root) {
  const std::map<int, ClassFolder> classes = ListClasses(root);
  const std::int64_t per_class = std::ssize(classes.begin()->second.drawings);
  std::vector<std::string> names, paths;
  for (const auto& [number, found] : classes) {
    if (std::ssize(found.drawings) != per_class) {
      Throw<DataError>("{}: has {} drawings, those before it {}", found.folder,
                       found.drawings.size(), per_class);
    }
    names.push_back(found.name);
    for (const auto& [drawing, path] : found.drawings) paths.push_back(path);
  }
  Drawings drawings = Blank(std::move(names), per_class);
  ParallelFor(drawings.images.count,
              [&](std::int64_t i) { StoreFile(paths[static_cast<std::size_t>(i)], i, drawings); });
  return drawings;
}

void Append(const Drawings& more, const std::string& path, Drawings& all) {
  if (all.names.empty()) {
    all = more;
    return;
  }
  if (more.per_class != all.per_class) {
    Throw<DataError>("{}: has {} drawings of a class, the paths before it {}", path, more.per_class,
                     all.per_class);
  }
  for (const std::int64_t label : more.images.labels) {
    all.images.labels.push_back(label + all.classes());
  }
  all.images.count += more.images.count;
  all.images.pixels.insert(all.images.pixels.end(), more.images.pixels.begin(),
                           more.images.pixels.end());
  all.names.insert(all.names.end(), more.names.begin(), more.names.end());
}

}  // namespace

Drawings ReadDrawings(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    Throw<ConfigError>(
        "data: no files given, expected .npz files or folders of Omniglot (data=[PATH,...])");
  }
  Drawings all;
  for (const std::string& path : paths) {
    Append(fs::is_directory(path) ? ReadTree(path) : ReadArrays(path), path, all);
  }
  return all;
}

}  // namespace lfiw::experiments
