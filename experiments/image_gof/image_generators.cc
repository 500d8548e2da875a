#include "experiments/image_gof/image_generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/rng.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

// images of one checkpoint of sampling, and of one step of its progress in densities
constexpr std::int64_t kSampleBlock = 1000;
constexpr std::int64_t kDensityBlock = 100;

constexpr const char* kPrefix = "model";

using Sampler =
    std::function<ImageBatch(std::int64_t first, std::int64_t count, Progress* progress)>;

// What the stages do in each kind of model's own way.
struct ModelKind {
  std::string name;  // of stages, jobs and checkpoints
  std::string options;
  std::int64_t steps;
  // Trains and saves.
  std::function<TrainingHistory(const ImageBatch& train, const ImageBatch& held_out,
                                const FitJob& job, NpzFile& file)>
      train;
  std::function<Sampler(const NpzFile& file)> load;
};

// An untrained model for images of the size of `like`.
PixelCnn MakePixelCnn(const PixelCnnOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return {options, like.channels, like.height, like.width, Stream(seed, "pixel cnn weights")};
}

template <class Model>
Sampler SamplerOf(Model model, const NpzFile& file, std::uint64_t seed) {
  model.Load(file, kPrefix);
  return [shared = std::make_shared<Model>(std::move(model)), seed](
             std::int64_t first, std::int64_t count, Progress* progress) {
    return shared->Sample(Stream(seed, "samples"), first, count, progress);
  };
}

ModelKind PixelCnnKind(const PixelCnnOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return {.name = "pixel_cnn",
          .options = CanonicalText(options),
          .steps = options.training.steps,
          .train =
              [options, seed](const ImageBatch& train, const ImageBatch& held_out,
                              const FitJob& job, NpzFile& file) {
                PixelCnnFit fit = TrainPixelCnn(train, held_out, options, seed, job);
                fit.model.Save(kPrefix, file);
                return std::move(fit.history);
              },
          .load =
              [options, &like, seed](const NpzFile& file) {
                return SamplerOf(MakePixelCnn(options, like, seed), file, seed);
              }};
}

ModelKind SnganKind(const SnganOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return {.name = "sngan",
          .options = CanonicalText(options),
          .steps = options.training.steps,
          .train =
              [options, seed](const ImageBatch& train, const ImageBatch& /*held_out*/,
                              const FitJob& job, NpzFile& file) {
                SnganFit fit = TrainSngan(train, options, seed, job);
                fit.model.Save(kPrefix, file);
                return std::move(fit.history);
              },
          .load =
              [options, &like, seed](const NpzFile& file) {
                Sngan model(options, like.channels, like.height, Stream(seed, "sngan weights"));
                return SamplerOf(std::move(model), file, seed);
              }};
}

// `like` outlives the result.
ModelKind KindOf(const GeneratorOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return options.kind == GeneratorKind::kPixelCnn ? PixelCnnKind(options.pixel_cnn, like, seed)
                                                  : SnganKind(options.sngan, like, seed);
}

TrainedGenerator TrainStage(const GeneratorOptions& options, const ModelKind& kind,
                            const SampleSet& real_train, std::uint64_t seed,
                            const ExperimentRun& run) {
  const Stage stage{.name = "train_" + kind.name,
                    .config = fmt::format("held out {}; {}", options.held_out, kind.options),
                    .inputs = {real_train.hash},
                    .seed = seed};
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    const ImageBatch& all = real_train.images;
    const std::int64_t cut = all.count - options.held_out;
    TerminalProgress progress(options.name + ": training", kind.steps, "steps", run.verbosity);
    const FitRun fit{.folder = CheckpointFolder(directory), .progress = &progress};
    const FitJob job = FitJob::Of(fit, kind.name, fmt::format("seed {}; {} images", seed, cut),
                                  kind.name + ".npz");
    NpzFile file;
    const TrainingHistory history =
        kind.train(TakeImages(all, 0, cut), TakeImages(all, cut, all.count), job, file);
    file.Write(directory + "/model.npz");
    WriteJson(HistoryJson(history), directory + "/history.json");
  });
  return {.history = ReadHistory(artifact.File("history.json")),
          .file = artifact.File("model.npz"),
          .hash = artifact.content_hash};
}

// Images 0 .. count - 1 of the sampler's sequence. Blocks that an interrupted try left in `folder`
// are taken as they are.
ImageBatch SampleInBlocks(const Sampler& sample, std::int64_t count, const std::string& folder,
                          Progress& progress) {
  ImageBatch all;
  for (std::int64_t begin = 0; begin < count; begin += kSampleBlock) {
    const std::int64_t size = std::min(kSampleBlock, count - begin);
    const std::string path = fmt::format("{}/block_{}.npz", folder, begin / kSampleBlock);
    if (std::filesystem::exists(path)) {
      progress.Resume(size);
    } else {
      WriteImages(sample(begin, size, &progress), path);
    }
    AppendImages(ReadImages(path).images, all);
  }
  return all;
}

std::string SampleStage(const GeneratorOptions& options, const ModelKind& kind,
                        const TrainedGenerator& model, std::uint64_t seed,
                        const ExperimentRun& run) {
  const Stage stage{.name = "sample_" + kind.name,
                    .config = fmt::format("{} images; {}", options.count, kind.options),
                    .inputs = {model.hash},
                    .seed = seed};
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress(options.name + ": sampling", options.count, "images", run.verbosity);
    const Sampler sampler = kind.load(NpzFile::Read(model.file));
    WriteImages(SampleInBlocks(sampler, options.count, CheckpointFolder(directory), progress),
                directory + "/samples.npz");
  });
  return artifact.File("samples.npz");
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
    MakePixelCnn(options.pixel_cnn, images, 0);
  } else if (images.height == images.width) {
    Sngan(options.sngan, images.channels, images.height, Stream(0, "sngan weights"));
  } else {
    Throw<ConfigError>("{}: images of real_train are {} x {}, expected squares", path,
                       images.height, images.width);
  }
}

GeneratorOutput MakeSamples(const GeneratorOptions& options, const SampleSet& real_train,
                            std::uint64_t seed, const ExperimentRun& run) {
  if (options.kind == GeneratorKind::kSamples) return {.samples = options.samples};
  const ModelKind kind = KindOf(options, real_train.images, seed);
  TrainedGenerator model = TrainStage(options, kind, real_train, seed, run);
  std::string samples = SampleStage(options, kind, model, seed, run);
  return {.samples = {std::move(samples)}, .model = std::move(model)};
}

std::vector<double> BaseLogDensity(const GeneratorOptions& options, const TrainedGenerator& model,
                                   const SampleSet& set, std::int64_t count, std::uint64_t seed,
                                   const ExperimentRun& run) {
  LFIW_ASSERT(options.kind == GeneratorKind::kPixelCnn);
  count = std::min(count, set.images.count);
  const Stage stage{.name = "gof_log_density",
                    .config = fmt::format("{} images; {}", count, CanonicalText(options.pixel_cnn)),
                    .inputs = {model.hash, set.hash},
                    .seed = 0};
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress(options.name + ": densities", count, "images", run.verbosity);
    PixelCnn network = MakePixelCnn(options.pixel_cnn, set.images, seed);
    network.Load(NpzFile::Read(model.file), kPrefix);
    std::vector<double> all;
    for (std::int64_t begin = 0; begin < count; begin += kDensityBlock) {
      if (InterruptRequested()) throw Interrupted();
      const std::int64_t end = std::min(begin + kDensityBlock, count);
      const std::vector<double> some = network.LogProbability(TakeImages(set.images, begin, end));
      all.insert(all.end(), some.begin(), some.end());
      progress.Advance(end - begin);
    }
    NpzFile file;
    file.Put("log_density", all);
    file.Write(directory + "/log_density.npz");
  });
  return NpzFile::Read(artifact.File("log_density.npz")).GetDoubles("log_density");
}

}  // namespace lfiw::experiments
