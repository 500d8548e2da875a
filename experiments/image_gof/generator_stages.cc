#include "experiments/image_gof/generator_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/arrays/npz.h"
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
constexpr const char* kModelFile = "model.npz";
constexpr const char* kHistoryFile = "history.json";
constexpr const char* kSamplesFile = "samples.npz";
constexpr const char* kDensityFile = "log_density.npz";

// How each kind of model is called in jobs and checkpoints.
std::string KindOf(const PixelCnnOptions& /*options*/) { return "pixel_cnn"; }
std::string KindOf(const SnganOptions& /*options*/) { return "sngan"; }

// What checkpoints of a training must agree on.
std::string IdentityOf(const TrainPixelCnnStage::Key& key,
                       const TrainPixelCnnStage::Inputs& inputs) {
  return CheckpointIdentity<TrainPixelCnnStage>(key, inputs);
}
std::string IdentityOf(const TrainSnganStage::Key& key, const TrainSnganStage::Inputs& inputs) {
  return CheckpointIdentity<TrainSnganStage>(key, inputs);
}

PixelCnnFit Train(const ImageBatch& train, const ImageBatch& held_out,
                  const PixelCnnOptions& options, std::uint64_t seed, const FitJob& job) {
  return TrainPixelCnn(train, held_out, options, seed, job);
}
SnganFit Train(const ImageBatch& train, const ImageBatch& /*held_out*/, const SnganOptions& options,
               std::uint64_t seed, const FitJob& job) {
  return TrainSngan(train, options, seed, job);
}

// Images 0 .. count - 1 of the model's sequence. Blocks that an interrupted try left in `folder`
// are taken as they are.
template <class Model>
ImageBatch SampleInBlocks(const Model& model, std::int64_t count, std::uint64_t seed,
                          const std::string& folder, Progress& progress) {
  ImageBatch all;
  for (std::int64_t begin = 0; begin < count; begin += kSampleBlock) {
    const std::int64_t size = std::min(kSampleBlock, count - begin);
    const std::string path = fmt::format("{}/block_{}.npz", folder, begin / kSampleBlock);
    if (std::filesystem::exists(path)) {
      progress.Resume(size);
    } else {
      WriteImages(model.Sample(Stream(seed, "samples"), begin, size, &progress), path);
    }
    AppendImages(ReadImages(path).images, all);
  }
  return all;
}

}  // namespace

PixelCnn MakeModel(const PixelCnnOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return {options, like.channels, like.height, like.width, Stream(seed, "pixel cnn weights")};
}

Sngan MakeModel(const SnganOptions& options, const ImageBatch& like, std::uint64_t seed) {
  return {options, like.channels, like.height, Stream(seed, "sngan weights")};
}

template <class Options>
void TrainingStage<Options>::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const ImageBatch& all = inputs.real_train.images;
  const std::int64_t cut = all.count - key.held_out;
  const std::string kind = KindOf(key.model);
  const auto progress = work.StartProgress(inputs.title, key.model.training.steps, "steps");
  const FitRun run{work.Checkpoints(), work.checkpoint_seconds, progress.get()};
  const FitJob job = FitJob::Of(run, kind, IdentityOf(key, inputs), kind + ".npz");
  const auto fit =
      Train(TakeImages(all, 0, cut), TakeImages(all, cut, all.count), key.model, key.seed, job);
  NpzFile file;
  fit.model.Save(kPrefix, file);
  file.Write(work.File(kModelFile));
  WriteJson(HistoryJson(fit.history), work.File(kHistoryFile));
}

template <class Options>
TrainedGenerator TrainingStage<Options>::Read(const Artifact& artifact) {
  return {.history = ReadHistory(artifact.File(kHistoryFile)),
          .file = artifact.File(kModelFile),
          .hash = artifact.content_hash};
}

template <class Options>
void SamplingStage<Options>::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress(inputs.title, key.count, "images");
  auto model = MakeModel(key.model, inputs.like, key.seed);
  model.Load(NpzFile::Read(inputs.model.file), kPrefix);
  WriteImages(SampleInBlocks(model, key.count, key.seed, work.Checkpoints(), *progress),
              work.File(kSamplesFile));
}

template <class Options>
std::string SamplingStage<Options>::SamplesFile(const Artifact& artifact) {
  return artifact.File(kSamplesFile);
}

template struct TrainingStage<PixelCnnOptions>;
template struct TrainingStage<SnganOptions>;
template struct SamplingStage<PixelCnnOptions>;
template struct SamplingStage<SnganOptions>;

void LogDensityStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress(inputs.title, key.count, "images");
  const ImageBatch& images = inputs.set.images;
  // the file has all weights, so the seed of the untrained ones does not matter
  PixelCnn network = MakeModel(key.model, images, 0);
  network.Load(NpzFile::Read(inputs.model.file), kPrefix);
  std::vector<double> all;
  for (std::int64_t begin = 0; begin < key.count; begin += kDensityBlock) {
    if (InterruptRequested()) throw Interrupted();
    const std::int64_t end = std::min(begin + kDensityBlock, key.count);
    const std::vector<double> some = network.LogProbability(TakeImages(images, begin, end));
    all.insert(all.end(), some.begin(), some.end());
    progress->Advance(end - begin);
  }
  NpzFile file;
  file.Put("log_density", all);
  file.Write(work.File(kDensityFile));
}

std::vector<double> LogDensityStage::Read(const Artifact& artifact) {
  return NpzFile::Read(artifact.File(kDensityFile)).GetDoubles("log_density");
}

}  // namespace lfiw::experiments
