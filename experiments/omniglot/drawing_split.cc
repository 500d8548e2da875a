#include "experiments/omniglot/drawing_split.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/index_list.h"
#include "core/rng.h"
#include "core/run/sha256.h"

namespace lfiw::experiments {
namespace {

void Check(const Drawings& drawings, const SplitOptions& options) {
  if (options.classes > drawings.classes()) {
    Throw<ConfigError>("split.classes is {}, expected at most the {} classes of the data",
                       options.classes, drawings.classes());
  }
  const std::int64_t wanted = options.train + options.validation + options.test;
  if (wanted > drawings.per_class) {
    Throw<ConfigError>(
        "split: train {} + validation {} + test {} = {} drawings of a class, expected at most the "
        "{} there are; 10, 5, 5 and 15, 3, 2 fit 20",
        options.train, options.validation, options.test, wanted, drawings.per_class);
  }
}

std::vector<std::int64_t> ChooseClasses(const Drawings& drawings, const SplitOptions& options,
                                        std::uint64_t seed) {
  std::vector<std::int64_t> classes;
  if (options.choice == ClassChoice::kRandom) {
    classes = Stream(seed, "omniglot classes").Permutation(drawings.classes());
  } else {
    classes = IndexList(drawings.classes());
  }
  classes.resize(static_cast<std::size_t>(options.classes));
  return classes;
}

// Appends a square image turned counterclockwise by quarter turns.
void AppendTurned(std::span<const std::uint8_t> image, std::int64_t side, std::int64_t quarters,
                  std::vector<std::uint8_t>& pixels) {
  const std::int64_t last = side - 1;
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      std::int64_t from_y = y, from_x = x;
      for (std::int64_t q = 0; q < quarters; ++q) {
        const std::int64_t old_y = from_y;
        from_y = from_x;
        from_x = last - old_y;
      }
      pixels.push_back(image[static_cast<std::size_t>(from_y * side + from_x)]);
    }
  }
}

// Appends the drawings of one class in the dealt order, turned, and their rows to the parts.
void AppendClass(const Drawings& drawings, std::int64_t from, std::int64_t quarters,
                 std::span<const std::int64_t> order, const SplitOptions& options,
                 SplitDrawings& split) {
  const std::int64_t label = split.classes();
  const std::string& name = drawings.names[static_cast<std::size_t>(from)];
  split.names.push_back(quarters == 0 ? name
                                      : fmt::format("{}, turned by {}", name, 90 * quarters));
  for (std::int64_t k = 0; k < std::ssize(order); ++k) {
    const std::int64_t row = from * drawings.per_class + order[static_cast<std::size_t>(k)];
    LabeledRows& part = k < options.train                        ? split.train
                        : k < options.train + options.validation ? split.validation
                                                                 : split.test;
    part.rows.push_back(split.images.count++);
    part.labels.push_back(label);
    split.images.labels.push_back(label);
    AppendTurned(drawings.images.Image(row), drawings.images.width, quarters, split.images.pixels);
  }
}

}  // namespace

SplitDrawings Split(const Drawings& drawings, const SplitOptions& options, std::uint64_t seed) {
  Check(drawings, options);
  SplitDrawings split;
  split.images.height = drawings.images.height;
  split.images.width = drawings.images.width;
  split.images.channels = drawings.images.channels;
  const std::int64_t dealt = options.train + options.validation + options.test;
  const std::int64_t turns = options.rotations ? 4 : 1;
  for (const std::int64_t c : ChooseClasses(drawings, options, seed)) {
    std::vector<std::int64_t> order =
        Stream(seed, "omniglot drawings", {static_cast<std::uint64_t>(c)})
            .Permutation(drawings.per_class);
    order.resize(static_cast<std::size_t>(dealt));
    for (std::int64_t quarters = 0; quarters < turns; ++quarters) {
      AppendClass(drawings, c, quarters, order, options, split);
    }
  }
  return split;
}

std::string HashOf(const ImageBatch& images, const LabeledRows& rows) {
  std::string bytes = fmt::format("{} x {} x {}:", images.height, images.width, images.channels);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    bytes += fmt::format(" {} ", rows.labels[i]);
    const auto image = images.Image(rows.rows[i]);
    bytes.append(image.begin(), image.end());
  }
  return Sha256Hex(bytes);
}

}  // namespace lfiw::experiments
