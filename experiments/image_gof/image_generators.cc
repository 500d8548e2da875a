#include "experiments/image_gof/image_generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

// Trains and samples one kind of model by its two stages.
template <class Training, class Sampling, class Options>
GeneratorOutput TrainAndSample(const GeneratorOptions& options, const Options& model_options,
                               const SampleSet& real_train, std::uint64_t seed,
                               const ExperimentRun& run) {
  TrainedGenerator model = Training::Read(
      run.cache.Run<Training>({options.held_out, model_options, seed},
                              {real_train, options.name + ": training"}, run.Work()));
  std::string samples = Sampling::SamplesFile(
      run.cache.Run<Sampling>({options.count, model_options, seed},
                              {model, real_train.images, options.name + ": sampling"}, run.Work()));
  return {.samples = {std::move(samples)}, .model = std::move(model)};
}

void CheckFiles(const GeneratorOptions& options) {
  const bool given = options.kind == GeneratorKind::kSamples;
  if (given == !options.samples.empty()) return;
  Throw<ConfigError>("generators: '{}' of kind {} has {} files of samples, expected {}",
                     options.name, EnumName(options.kind), options.samples.size(),
                     given ? "at least one file, or kind pixel_cnn or sngan to train one"
                           : "none, or kind samples");
}

}  // namespace

void CheckGenerator(const GeneratorOptions& options, const SampleSet& real_train,
                    std::int64_t runs) {
  if (options.name.empty()) Throw<ConfigError>("generators: one without a name, expected a name");
  CheckFiles(options);
  if (options.kind == GeneratorKind::kSamples) return;
  if (options.count < 2 * runs) {
    Throw<ConfigError>("generators: '{}' samples {} images, expected count >= {} for {} runs",
                       options.name, options.count, 2 * runs, runs);
  }
  const ImageBatch& images = real_train.images;
  if (images.count == 0) {
    Throw<ConfigError>(
        "real_train: features without images, expected image files to train '{}' on; or give its "
        "samples with kind samples",
        options.name);
  }
  if (options.held_out >= images.count) {
    Throw<ConfigError>("generators: '{}' holds out {} of {} images of real_train, expected fewer",
                       options.name, options.held_out, images.count);
  }
  const std::string path =
      fmt::format("generators: '{}': {}", options.name, EnumName(options.kind));
  const bool pixel_cnn = options.kind == GeneratorKind::kPixelCnn;
  CheckOptions(pixel_cnn ? options.pixel_cnn.training : options.sngan.training, path + ".training");
  if (pixel_cnn) {
    MakeModel(options.pixel_cnn, images, 0);
  } else if (images.height == images.width) {
    MakeModel(options.sngan, images, 0);
  } else {
    Throw<ConfigError>("{}: images of real_train are {} x {}, expected squares", path,
                       images.height, images.width);
  }
}

GeneratorOutput MakeSamples(const GeneratorOptions& options, const SampleSet& real_train,
                            std::uint64_t seed, const ExperimentRun& run) {
  if (options.kind == GeneratorKind::kSamples) return {.samples = options.samples};
  if (options.kind == GeneratorKind::kPixelCnn) {
    return TrainAndSample<TrainPixelCnnStage, SamplePixelCnnStage>(options, options.pixel_cnn,
                                                                   real_train, seed, run);
  }
  return TrainAndSample<TrainSnganStage, SampleSnganStage>(options, options.sngan, real_train, seed,
                                                           run);
}

std::vector<double> BaseLogDensity(const GeneratorOptions& options, const TrainedGenerator& model,
                                   const SampleSet& set, std::int64_t count,
                                   const ExperimentRun& run) {
  LFIW_ASSERT(options.kind == GeneratorKind::kPixelCnn);
  return LogDensityStage::Read(
      run.cache.Run<LogDensityStage>({std::min(count, set.images.count), options.pixel_cnn},
                                     {model, set, options.name + ": densities"}, run.Work()));
}

}  // namespace lfiw::experiments
