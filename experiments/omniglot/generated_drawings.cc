#include "experiments/omniglot/generated_drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/images/image_files.h"
#include "core/images/png.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "core/seed_of.h"
#include "experiments/image_gof/image_grid.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

using Indices = std::vector<std::int64_t>;

// of the grid that shows how a generator gets on
constexpr std::int64_t kSampleRows = 8;
constexpr std::int64_t kSampleColumns = 10;

std::vector<Indices> RowsByClass(const SplitDrawings& drawings) {
  std::vector<Indices> classes(static_cast<std::size_t>(drawings.classes()));
  for (std::size_t i = 0; i < drawings.train.rows.size(); ++i) {
    classes[static_cast<std::size_t>(drawings.train.labels[i])].push_back(drawings.train.rows[i]);
  }
  return classes;
}

// The sum of the pixels' absolute differences.
double Difference(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  double sum = 0.0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    sum += std::abs(static_cast<double>(a[p]) - static_cast<double>(b[p]));
  }
  return sum;
}

// Rows of a training drawing, one class each, and the drawings made from it; a PNG file.
std::string SampleGrid(const Dagan& model, const SplitDrawings& drawings, std::uint64_t seed) {
  const std::vector<Indices> classes = RowsByClass(drawings);
  const std::int64_t rows = std::min(kSampleRows, drawings.classes());
  Indices shown, conditions;
  for (std::int64_t r = 0; r < rows; ++r) {
    shown.push_back(classes[static_cast<std::size_t>(r * drawings.classes() / rows)].front());
    conditions.insert(conditions.end(), kSampleColumns - 1, shown.back());
  }
  ImageBatch all = TakeImages(drawings.images, shown);
  AppendImages(model.Generate(drawings.images, conditions, Stream(seed, "omniglot sample grid"), 0),
               all);
  Indices order;
  for (std::int64_t r = 0; r < rows; ++r) {
    order.push_back(r);
    for (std::int64_t k = 0; k + 1 < kSampleColumns; ++k) {
      order.push_back(rows + r * (kSampleColumns - 1) + k);
    }
  }
  return EncodePng(ImageGrid(all, order, kSampleColumns), 0);
}

// Draws `per_class` of each class, from its training drawings in turn.
ImageBatch Generate(const Dagan& model, const SplitDrawings& drawings, std::int64_t per_class,
                    std::uint64_t seed, Progress* progress) {
  ImageBatch images = model.Generate(drawings.images, ConditionsOf(drawings, per_class),
                                     Stream(seed, "omniglot generated"), 0, progress);
  for (std::int64_t c = 0; c < drawings.classes(); ++c) {
    images.labels.insert(images.labels.end(), static_cast<std::size_t>(per_class), c);
  }
  return images;
}

constexpr const char* kModelFile = "dagan.npz";
constexpr const char* kHistoryFile = "history.json";
constexpr const char* kSamplesFile = "samples.png";
constexpr const char* kDrawingsFile = "drawings.npz";

}  // namespace

std::vector<std::int64_t> ConditionsOf(const SplitDrawings& drawings, std::int64_t per_class) {
  Indices conditions;
  for (const Indices& rows : RowsByClass(drawings)) {
    for (std::int64_t k = 0; k < per_class; ++k) {
      conditions.push_back(rows[static_cast<std::size_t>(k % std::ssize(rows))]);
    }
  }
  return conditions;
}

std::optional<double> DiversityOf(const ImageBatch& generated, const SplitDrawings& drawings) {
  const std::int64_t per_class = generated.count / drawings.classes();
  const std::int64_t train = drawings.train.size() / drawings.classes();
  double real = 0.0, made = 0.0;
  std::int64_t real_pairs = 0, made_pairs = 0;
  for (const Indices& rows : RowsByClass(drawings)) {
    for (std::size_t a = 0; a + 1 < rows.size(); ++a, ++real_pairs) {
      real += Difference(drawings.images.Image(rows[a]), drawings.images.Image(rows[a + 1]));
    }
  }
  for (std::int64_t i = 0; i + train < generated.count; ++i) {
    if (i % per_class + train >= per_class) continue;  // the other is of the next class
    made += Difference(generated.Image(i), generated.Image(i + train));
    ++made_pairs;
  }
  if (made_pairs == 0 || real == 0.0) return {};
  return made / static_cast<double>(made_pairs) / (real / static_cast<double>(real_pairs));
}

void DaganStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const SplitDrawings& drawings = inputs.drawings;
  const auto progress =
      work.StartProgress("train the generator", key.options.training.steps, "steps");
  const FitJob job =
      FitJob::Of({work.Checkpoints(), work.checkpoint_seconds, progress.get()}, inputs.name,
                 CheckpointIdentity<DaganStage>(key, inputs), kModelFile);
  const DaganFit fit = TrainDagan(drawings.images, RowsByClass(drawings), key.options, key.seed,
                                  job, [&](std::int64_t /*steps*/, const Dagan& model) {
                                    inputs.show(SampleGrid(model, drawings, key.seed));
                                  });
  NpzFile file;
  fit.model.Save("model", file);
  file.Write(work.File(kModelFile));
  WriteJson(HistoryJson(fit.history), work.File(kHistoryFile));
  WriteFileAtomically(work.File(kSamplesFile), SampleGrid(fit.model, drawings, key.seed));
}

TrainingHistory DaganStage::History(const Artifact& artifact) {
  return ReadHistory(artifact.File(kHistoryFile));
}

std::string DaganStage::Samples(const Artifact& artifact) {
  return ReadFile(artifact.File(kSamplesFile));
}

void GeneratedStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const SplitDrawings& drawings = inputs.drawings;
  const auto progress =
      work.StartProgress("generate drawings", drawings.classes() * key.per_class, "drawings");
  // the file has all weights, so the stream of the untrained ones does not matter
  Dagan model(key.options, drawings.images.channels, drawings.images.height, Stream(0, "unused"));
  model.Load(NpzFile::Read(inputs.generator.File(kModelFile)), "model");
  WriteImages(Generate(model, drawings, key.per_class, key.seed, progress.get()),
              work.File(kDrawingsFile));
}

ImageBatch GeneratedStage::Read(const Artifact& artifact) {
  return ReadImages(artifact.File(kDrawingsFile)).images;
}

GeneratedDrawings DrawWithGenerator(const OmniglotConfig& config, const SplitDrawings& drawings,
                                    std::int64_t generator, const ExperimentRun& run) {
  const std::uint64_t seed = SeedOf(config.seed, "omniglot generator", generator);
  const std::string train_hash = HashOf(drawings.images, drawings.train);
  const auto show = [&run, grid = fmt::format("plots/dagan_{}.png", generator)](
                        const std::string& png) { run.directory.Write(grid, png); };
  const Artifact trained = run.cache.Run<DaganStage>(
      {config.dagan, seed}, {drawings, train_hash, fmt::format("generator {}", generator), show},
      run.Work());
  const std::string samples = DaganStage::Samples(trained);
  show(samples);
  const Artifact drawn =
      run.cache.Run<GeneratedStage>({config.generated_per_class, config.dagan, seed},
                                    {trained, drawings, train_hash}, run.Work());
  ImageBatch images = GeneratedStage::Read(drawn);
  const std::optional<double> diversity = DiversityOf(images, drawings);
  return {.images = std::move(images),
          .hash = drawn.content_hash,
          .samples = samples,
          .history = DaganStage::History(trained),
          .diversity = diversity};
}

}  // namespace lfiw::experiments
