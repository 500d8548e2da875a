#include "experiments/image_gof/gof_metrics_stage.h"

#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kRowsFile = "rows.json";

}  // namespace

void GofMetricsStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress("metrics", 1, "table");
  const SamplePair& samples = inputs.samples;
  const std::vector<GofRow> rows =
      MeasureFit(samples.real.features, samples.generated.features,
                 RatiosOf(inputs.weights, inputs.smoothed), key.options, key.seed);
  WriteJson(RowsJson(rows), work.File(kRowsFile));
  progress->Advance(1);
}

std::vector<GofRow> GofMetricsStage::Read(const Artifact& artifact) {
  const std::string path = artifact.File(kRowsFile);
  return RowsFromJson(ReadJson(path), path);
}

}  // namespace lfiw::experiments
