#ifndef LFIW_TESTS_EXPERIMENTS_OMNIGLOT_TOY_DRAWINGS_H_
#define LFIW_TESTS_EXPERIMENTS_OMNIGLOT_TOY_DRAWINGS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/rng.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/omniglot/drawings.h"

namespace lfiw::experiments {

// How a toy drawing looks: a bar on a noisy ground.
struct ToyBar {
  bool vertical = false;
  std::uint64_t ground = 30;  // the noise is below it
  std::uint8_t ink = 200;
};

inline void AppendBar(const ToyBar& bar, std::int64_t label, Stream& stream, ImageBatch& images) {
  const auto place = static_cast<std::int64_t>(4 + stream.Below(kDrawingSide - 8));
  for (std::int64_t y = 0; y < kDrawingSide; ++y) {
    for (std::int64_t x = 0; x < kDrawingSide; ++x) {
      const std::int64_t from_bar = (bar.vertical ? x : y) - place;
      const bool inked = from_bar == 0 || from_bar == 1;
      images.pixels.push_back(inked ? bar.ink
                                    : static_cast<std::uint8_t>(stream.Below(bar.ground)));
    }
  }
  images.labels.push_back(label);
  ++images.count;
}

inline ImageBatch NoImages() {
  ImageBatch images;
  images.height = images.width = kDrawingSide;
  images.channels = 1;
  return images;
}

// Two classes, horizontal and vertical bars.
inline Drawings ToyDrawings(std::int64_t per_class, std::uint64_t seed = 1) {
  Stream stream(seed, "toy");
  Drawings drawings{.images = NoImages(), .per_class = per_class, .names = {}};
  drawings.names.emplace_back("across");
  drawings.names.emplace_back("down");
  for (const std::int64_t label : {0, 1}) {
    for (std::int64_t i = 0; i < per_class; ++i) {
      AppendBar({.vertical = label == 1}, label, stream, drawings.images);
    }
  }
  return drawings;
}

// As many images of each class as asked for, every second one of which is wrong: a bar of the other
// class on louder ground.
inline ImageBatch HalfWrong(std::int64_t per_class, std::uint64_t seed = 2) {
  Stream stream(seed, "half wrong");
  ImageBatch images = NoImages();
  for (const std::int64_t label : {0, 1}) {
    for (std::int64_t i = 0; i < per_class; ++i) {
      const bool wrong = i % 2 == 1;
      AppendBar({.vertical = (label == 1) != wrong, .ground = wrong ? 90u : 30u}, label, stream,
                images);
    }
  }
  return images;
}

inline SplitDrawings ToySplit(std::int64_t train = 20) {
  SplitOptions options;
  options.classes = 2;
  options.train = train;
  options.validation = 10;
  options.test = 40;
  return Split(ToyDrawings(train + 50), options, 1);
}

// Writes drawings as the reader takes them.
inline void WriteDrawings(const Drawings& drawings, const std::string& path) {
  NpzArray array{"u1", {drawings.classes(), drawings.per_class, kDrawingSide, kDrawingSide}, {}};
  for (const std::uint8_t pixel : drawings.images.pixels) {
    array.bytes.push_back(static_cast<std::byte>(pixel));
  }
  NpzFile file;
  file.Put("images", std::move(array));
  file.Write(path);
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_OMNIGLOT_TOY_DRAWINGS_H_
