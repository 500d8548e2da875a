#include "experiments/image_gof/gof_table_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/config/config.h"
#include "tests/models/image/small_generators.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;

GofTableConfig Load(const std::string& name) {
  return LoadWithPreset<GofTableConfig>(SourceFile("experiments/configs/" + std::string(name)));
}

// All of a configuration that stages of generators and weights depend on.
std::string SharedPart(GofTableConfig config) {
  config.name = "";
  config.sizes = {};
  return CanonicalText(config);
}

TEST(GofTableConfigs, SmallGeneratorsAreThoseOfTheLibrary) {
  const GofTableConfig config = Load("gof_cifar10_small.yaml");
  ASSERT_EQ(config.generators.size(), 2u);
  EXPECT_EQ(config.generators[0].kind, GeneratorKind::kPixelCnn);
  EXPECT_EQ(CanonicalText(config.generators[0].pixel_cnn), CanonicalText(SmallPixelCnnOptions()));
  EXPECT_EQ(config.generators[1].kind, GeneratorKind::kSngan);
  EXPECT_EQ(CanonicalText(config.generators[1].sngan), CanonicalText(SmallSnganOptions()));
}

TEST(GofTableConfigs, FullGeneratorsAreThePublishedOnes) {
  const GofTableConfig config = Load("gof_cifar10.yaml");
  ASSERT_EQ(config.generators.size(), 2u);
  EXPECT_EQ(CanonicalText(config.generators[0].pixel_cnn), CanonicalText(PixelCnnOptions()));
  EXPECT_EQ(CanonicalText(config.generators[1].sngan), CanonicalText(SnganOptions()));
  for (const GeneratorOptions& generator : config.generators) {
    EXPECT_EQ(generator.count, 10'000 * config.runs) << generator.name;
  }
}

TEST(GofTableConfigs, ThePapersPresetHasThePapersWeightsAlone) {
  const auto config = LoadWithPreset<GofTableConfig>("", {"experiment=gof_table", "preset=paper"});
  EXPECT_EQ(config.smoothing.noise, 0.0);
  EXPECT_EQ(config.tempered, 0.0);
  EXPECT_EQ(LoadWithPreset<GofTableConfig>("", {"preset=paper", "tempered=0.5"}).tempered, 0.5)
      << "what is given counts";
}

TEST(GofTableConfigs, BiasAndVarianceShareTheStagesOfTheTables) {
  EXPECT_EQ(SharedPart(Load("bias_variance.yaml")), SharedPart(Load("gof_cifar10.yaml")));
  EXPECT_EQ(SharedPart(Load("bias_variance_small.yaml")),
            SharedPart(Load("gof_cifar10_small.yaml")));
  EXPECT_THAT(Load("bias_variance_small.yaml").sizes, ElementsAre(1000, 500));
}

}  // namespace
}  // namespace lfiw::experiments
