#include "experiments/omniglot/generated_drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/config.h"
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

Artifact TrainStage(const OmniglotConfig& config, const SplitDrawings& drawings,
                    std::int64_t generator, std::uint64_t seed, const ExperimentRun& run) {
  const Stage stage{.name = "omniglot_dagan",
                    .config = CanonicalText(config.dagan),
                    .inputs = {HashOf(drawings.images, drawings.train)},
                    .seed = seed};
  const std::string grid = fmt::format("plots/dagan_{}.png", generator);
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("train the generator", config.dagan.training.steps, "steps",
                              run.verbosity);
    const FitJob job = FitJob::Of({.folder = CheckpointFolder(directory), .progress = &progress},
                                  fmt::format("generator {}", generator), stage.Key(), "dagan.npz");
    const DaganFit fit = TrainDagan(drawings.images, RowsByClass(drawings), config.dagan, seed, job,
                                    [&](std::int64_t /*steps*/, const Dagan& model) {
                                      run.directory.Write(grid, SampleGrid(model, drawings, seed));
                                    });
    NpzFile file;
    fit.model.Save("model", file);
    file.Write(directory + "/dagan.npz");
    WriteJson(HistoryJson(fit.history), directory + "/history.json");
    WriteFileAtomically(directory + "/samples.png", SampleGrid(fit.model, drawings, seed));
  });
  run.directory.Write(grid, ReadFile(artifact.File("samples.png")));
  return artifact;
}

Dagan LoadGenerator(const OmniglotConfig& config, const SplitDrawings& drawings,
                    const std::string& path) {
  Dagan model(config.dagan, drawings.images.channels, drawings.images.height, Stream(0, "unused"));
  model.Load(NpzFile::Read(path), "model");
  return model;
}

// Draws `per_class` of each class, from its training drawings in turn.
ImageBatch Generate(const Dagan& model, const SplitDrawings& drawings, std::int64_t per_class,
                    std::uint64_t seed, Progress* progress) {
  Indices conditions, labels;
  const std::vector<Indices> classes = RowsByClass(drawings);
  for (std::int64_t c = 0; c < drawings.classes(); ++c) {
    const Indices& rows = classes[static_cast<std::size_t>(c)];
    for (std::int64_t k = 0; k < per_class; ++k) {
      conditions.push_back(rows[static_cast<std::size_t>(k % std::ssize(rows))]);
      labels.push_back(c);
    }
  }
  ImageBatch images =
      model.Generate(drawings.images, conditions, Stream(seed, "omniglot generated"), 0, progress);
  images.labels = std::move(labels);
  return images;
}

}  // namespace

GeneratedDrawings DrawWithGenerator(const OmniglotConfig& config, const SplitDrawings& drawings,
                                    std::int64_t generator, const ExperimentRun& run) {
  const std::uint64_t seed = SeedOf(config.seed, "omniglot generator", generator);
  const Artifact trained = TrainStage(config, drawings, generator, seed, run);
  const Stage stage{.name = "omniglot_generated",
                    .config = fmt::format("{} of each class by {}", config.generated_per_class,
                                          CanonicalText(config.dagan)),
                    .inputs = {trained.content_hash, HashOf(drawings.images, drawings.train)},
                    .seed = seed};
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    const std::int64_t count = drawings.classes() * config.generated_per_class;
    TerminalProgress progress("generate drawings", count, "drawings", run.verbosity);
    const Dagan model = LoadGenerator(config, drawings, trained.File("dagan.npz"));
    WriteImages(Generate(model, drawings, config.generated_per_class, seed, &progress),
                directory + "/drawings.npz");
  });
  return {.images = ReadImages(artifact.File("drawings.npz")).images,
          .hash = artifact.content_hash,
          .samples = ReadFile(trained.File("samples.png")),
          .history = ReadHistory(trained.File("history.json"))};
}

}  // namespace lfiw::experiments
