#include "experiments/omniglot/ranked_drawings.h"

#include <algorithm>

#include "core/error.h"
#include "core/index_list.h"
#include "core/rng.h"
#include "experiments/image_gof/image_grid.h"

namespace lfiw::experiments {
namespace {

using Indices = std::vector<std::int64_t>;

constexpr std::uint8_t kWhite = 255;
constexpr std::int64_t kGap = 8;  // pixels between pictures

// Rows of one class in the generated images by decreasing weight, thinned to the columns.
Indices Ranked(std::int64_t label, std::int64_t per_class, std::span<const double> log_weights) {
  Indices order = IndexList(label * per_class, (label + 1) * per_class);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int64_t i) {
    return log_weights[static_cast<std::size_t>(i)];
  });
  if (per_class <= kRankedColumns) return order;
  Indices thinned;
  for (std::int64_t k = 0; k < kRankedColumns; ++k) {
    thinned.push_back(order[static_cast<std::size_t>(k * (per_class - 1) / (kRankedColumns - 1))]);
  }
  return thinned;
}

// The held-out drawings of a class, at most a row of them.
Indices HeldOut(const LabeledRows& test, std::int64_t label) {
  Indices rows;
  for (std::size_t i = 0; i < test.rows.size() && std::ssize(rows) < kRankedColumns; ++i) {
    if (test.labels[i] == label) rows.push_back(test.rows[i]);
  }
  return rows;
}

void AppendWhite(std::int64_t count, ImageBatch& all) {
  all.pixels.insert(all.pixels.end(), static_cast<std::size_t>(count * all.image_size()), kWhite);
  all.count += count;
}

// Two rows of `columns` tiles, white where there is no drawing.
ImageBatch Picture(const ImageBatch& held_out, const ImageBatch& ranked) {
  const std::int64_t columns = std::max(held_out.count, ranked.count);
  ImageBatch tiles = held_out;
  AppendWhite(columns - held_out.count, tiles);
  AppendImages(ranked, tiles);
  AppendWhite(columns - ranked.count, tiles);
  const Indices all = IndexList(tiles.count);
  return ImageGrid(tiles, all, columns);
}

// The image with a white margin to the right and below.
ImageBatch WithMargin(const ImageBatch& image) {
  ImageBatch wide{.count = 1,
                  .height = image.height + kGap,
                  .width = image.width + kGap,
                  .channels = image.channels,
                  .pixels = {},
                  .labels = {}};
  wide.pixels.assign(static_cast<std::size_t>(wide.image_size()), kWhite);
  const std::int64_t row = image.width * image.channels;
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::copy_n(image.pixels.begin() + y * row, row,
                wide.pixels.begin() + y * wide.width * wide.channels);
  }
  return wide;
}

}  // namespace

std::vector<RankedClass> RankDrawings(const SplitDrawings& drawings, const ImageBatch& generated,
                                      std::span<const double> log_weights, std::int64_t count,
                                      std::uint64_t seed) {
  LFIW_ASSERT(std::ssize(log_weights) == generated.count);
  const std::int64_t per_class = generated.count / drawings.classes();
  Indices labels = Stream(seed, "omniglot figure").Permutation(drawings.classes());
  labels.resize(static_cast<std::size_t>(std::min(count, drawings.classes())));
  std::vector<RankedClass> classes;
  for (const std::int64_t label : labels) {
    classes.push_back(
        {.name = drawings.names[static_cast<std::size_t>(label)],
         .picture = Picture(TakeImages(drawings.images, HeldOut(drawings.test, label)),
                            TakeImages(generated, Ranked(label, per_class, log_weights)))});
  }
  return classes;
}

ImageBatch JoinPictures(const std::vector<RankedClass>& classes) {
  LFIW_ASSERT(!classes.empty());
  ImageBatch all = WithMargin(classes.front().picture);
  for (std::size_t i = 1; i < classes.size(); ++i)
    AppendImages(WithMargin(classes[i].picture), all);
  const Indices listed = IndexList(std::ssize(classes));
  return ImageGrid(all, listed, std::min<std::int64_t>(2, all.count));
}

}  // namespace lfiw::experiments
