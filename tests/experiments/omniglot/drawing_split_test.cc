#include "experiments/omniglot/drawing_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Drawings of two pixels a side that tell their class and number.
Drawings Numbered(std::int64_t classes, std::int64_t per_class) {
  Drawings drawings;
  drawings.per_class = per_class;
  drawings.images.count = classes * per_class;
  drawings.images.height = drawings.images.width = 2;
  drawings.images.channels = 1;
  for (std::int64_t i = 0; i < drawings.images.count; ++i) {
    for (const std::int64_t value : {i / per_class, i % per_class, std::int64_t{100}}) {
      drawings.images.pixels.push_back(static_cast<std::uint8_t>(value));
    }
    drawings.images.pixels.push_back(200);
    drawings.images.labels.push_back(i / per_class);
  }
  for (std::int64_t c = 0; c < classes; ++c) drawings.names.push_back("class " + std::to_string(c));
  return drawings;
}

SplitOptions Options(std::int64_t classes) {
  SplitOptions options;
  options.classes = classes;
  return options;
}

std::vector<std::uint8_t> Pixels(const SplitDrawings& split, std::int64_t row) {
  const auto image = split.images.Image(row);
  return {image.begin(), image.end()};
}

TEST(Split, PartsAreDisjointAndHaveSoManyDrawingsOfEveryClass) {
  const SplitDrawings split = Split(Numbered(30, 20), Options(12), 1);
  EXPECT_EQ(split.classes(), 12);
  EXPECT_EQ(split.train.size(), 120);
  EXPECT_EQ(split.validation.size(), 60);
  EXPECT_EQ(split.test.size(), 60);
  std::set<std::pair<int, int>> seen;  // class and number
  for (const LabeledRows* part : {&split.train, &split.validation, &split.test}) {
    std::vector<std::int64_t> counts(12, 0);
    for (std::size_t i = 0; i < part->rows.size(); ++i) {
      const std::vector<std::uint8_t> pixels = Pixels(split, part->rows[i]);
      EXPECT_TRUE(seen.emplace(pixels[0], pixels[1]).second)
          << "row " << part->rows[i] << " is in two parts";
      EXPECT_EQ(pixels[0], part->labels[i]);
      EXPECT_EQ(split.images.labels[static_cast<std::size_t>(part->rows[i])], part->labels[i]);
      ++counts[static_cast<std::size_t>(part->labels[i])];
    }
    for (const std::int64_t count : counts) EXPECT_EQ(count, part->size() / 12);
  }
}

TEST(Split, TrainingDrawingsDoNotDependOnTheSizesOfTheOtherParts) {
  SplitOptions other = Options(5);
  other.validation = 3;
  other.test = 2;
  const SplitDrawings a = Split(Numbered(9, 20), Options(5), 7);
  const SplitDrawings b = Split(Numbered(9, 20), other, 7);
  EXPECT_EQ(HashOf(a.images, a.train), HashOf(b.images, b.train));
  EXPECT_NE(HashOf(a.images, a.test), HashOf(b.images, b.test));
}

TEST(Split, TheSeedDealsTheDrawings) {
  const Drawings drawings = Numbered(4, 20);
  const auto hash = [&](std::uint64_t seed) {
    const SplitDrawings split = Split(drawings, Options(4), seed);
    return HashOf(split.images, split.train);
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST(Split, ClassesAreTheFirstOnesOrDrawnWithoutRepetition) {
  SplitOptions options = Options(8);
  EXPECT_EQ(Split(Numbered(40, 20), options, 1).names.back(), "class 7");
  options.choice = ClassChoice::kRandom;
  const SplitDrawings drawn = Split(Numbered(40, 20), options, 1);
  EXPECT_EQ(std::set(drawn.names.begin(), drawn.names.end()).size(), 8u);
  EXPECT_NE(drawn.names, Split(Numbered(40, 20), options, 2).names);
}

TEST(Split, RotationsAreClassesOfTheirOwnThatAreDealtLikeTheirOrigin) {
  SplitOptions options = Options(2);
  options.rotations = true;
  const SplitDrawings split = Split(Numbered(2, 20), options, 1);
  ASSERT_EQ(split.classes(), 8);
  EXPECT_EQ(split.train.size(), 80);
  EXPECT_EQ(split.names[1], "class 0, turned by 90");
  // [a b / c d] counterclockwise is [b d / a c], twice [d c / b a]
  const std::vector<std::uint8_t> original = Pixels(split, split.train.rows[0]);
  EXPECT_THAT(Pixels(split, split.train.rows[10]),
              ElementsAre(original[1], original[3], original[0], original[2]));
  EXPECT_THAT(Pixels(split, split.train.rows[20]),
              ElementsAre(original[3], original[2], original[1], original[0]));
}

TEST(Split, FifteenFiveFiveDoNotFitTwentyButTheAlternativesDo) {
  SplitOptions options = Options(2);
  options.train = 15;
  EXPECT_THAT([&] { Split(Numbered(2, 20), options, 1); },
              ThrowsMessage<ConfigError>(HasSubstr("= 25 drawings of a class, expected at most the "
                                                   "20 there are; 10, 5, 5 and 15, 3, 2 fit 20")));
  options.validation = 3;
  options.test = 2;
  EXPECT_EQ(Split(Numbered(2, 20), options, 1).train.size(), 30);
}

TEST(Split, MoreClassesThanThereAreIsAnError) {
  EXPECT_THAT([] { Split(Numbered(2, 20), Options(3), 1); },
              ThrowsMessage<ConfigError>(HasSubstr("split.classes is 3, expected at most the 2")));
}

}  // namespace
}  // namespace lfiw::experiments
