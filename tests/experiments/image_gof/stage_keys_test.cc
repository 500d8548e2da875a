#include "tests/experiments/stage_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/image_gof/generator_stages.h"
#include "experiments/image_gof/gof_metrics_stage.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/image_gof/toy_gaussian.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

using ImageStages =
    StageTypes<GofWeightsStage, GofMetricsStage, FeaturesStage, ToyCurvesStage, TrainPixelCnnStage,
               TrainSnganStage, SamplePixelCnnStage, SampleSnganStage, LogDensityStage>;

TEST(ImageStages, DependOnEveryFieldOfTheirKeysAndOnAllElse) {
  ImageStages::ExpectKeysAreComplete();
}

TEST(ImageStages, AreAllListedHere) {
  EXPECT_THAT(ImageStages::Names(),
              UnorderedElementsAreArray(StageNamesBelow("experiments/image_gof")));
}

TEST(ImageStages, InputsAreTheHashesOfAllThatIsRead) {
  SamplePair samples;
  samples.real.hash = "real";
  samples.generated.hash = "generated";
  samples.features_hash = "network";
  FittedWeights weights;
  weights.hash = "weights";
  const SmoothedWeights smoothed{
      .generated = {}, .noise = 0.5, .share = 0.25, .hash = "smooth weights"};
  const GofMetricsStage::Inputs metrics{samples, weights, smoothed};
  EXPECT_THAT(metrics.Hashes(), ElementsAre("real", "generated", "network", "weights",
                                            "smooth weights noise 0.5 share 0.25"));

  TrainedGenerator model;
  model.hash = "model";
  const LogDensityStage::Inputs density{model, samples.real, "title"};
  EXPECT_THAT(density.Hashes(), ElementsAre("model", "real"));
  const SampleSnganStage::Inputs sampling{model, samples.real.images, "title"};
  EXPECT_THAT(sampling.Hashes(), ElementsAre("model"));
}

}  // namespace
}  // namespace lfiw::experiments
