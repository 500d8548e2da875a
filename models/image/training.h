#ifndef LFIW_MODELS_IMAGE_TRAINING_H_
#define LFIW_MODELS_IMAGE_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "models/adam.h"
#include "models/fit.h"
#include "models/image/device.h"

namespace lfiw::models {

// What the training of every image model has in common.
struct ImageTrainingOptions {
  std::int64_t steps = 10'000;
  std::int64_t batch = 64;  // images of one gradient step
  // Pieces of a batch that are computed side by side, and normalized apart where there is batch
  // norm. They are part of the result; threads are not.
  std::int64_t chunks = 2;
  std::int64_t report_every = 100;
  Device device = Device::kAuto;
  AdamOptions adam;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("steps", steps, "training steps", AtLeast(1));
    v.Field("batch", batch, "images per gradient step", AtLeast(1));
    v.Field("chunks", chunks, "parts of a batch computed in parallel, at most `batch`", AtLeast(1));
    v.Field("report_every", report_every, "steps between entries of the history", AtLeast(1));
    v.Field("device", device, "where to compute");
    v.Field("adam", adam, "optimizer");
  }
};

// Throws ConfigError when there are more chunks than images in a batch, or no such device.
void CheckOptions(const ImageTrainingOptions& options, const std::string& path);

// What Train trains. A step's batch and noise must follow from its number alone, and all that steps
// leave behind must be saved, so that training can resume from any step.
class TrainingProblem {
 public:
  virtual ~TrainingProblem() = default;
  // Names of what Step returns, then of what Evaluate returns.
  virtual std::vector<std::string> FigureNames() const = 0;
  // One step (0-based); returns figures to watch, such as losses.
  virtual std::vector<double> Step(std::int64_t step) = 0;
  // Figures of a held-out set; called once per entry of the history.
  virtual std::vector<double> Evaluate() { return {}; }
  virtual void Save(NpzFile& file) const = 0;
  virtual void Load(const NpzFile& file) = 0;
};

struct TrainingHistory {
  std::vector<std::string> names;
  std::vector<std::int64_t> steps;  // done at each entry
  // [entries, names]; of steps, the mean since the entry before
  std::vector<double> values;
  bool operator==(const TrainingHistory&) const = default;

  double Value(std::int64_t entry, std::int64_t figure) const {
    return values[static_cast<std::size_t>(entry * std::ssize(names) + figure)];
  }
  double Last(std::int64_t figure) const { return Value(std::ssize(steps) - 1, figure); }
};

// Runs steps 0 .. options.steps - 1, with an entry of the history every `report_every` steps and at
// the end. A checkpoint found at `job.checkpoint` is resumed, also that of a finished training, and
// gives the same bytes as an undisturbed one; the owner of its folder removes it.
// Throws NumericError that names job, figure and step when a figure is not finite, DataError when
// the checkpoint belongs to another training, and Interrupted (after writing a checkpoint).
TrainingHistory Train(TrainingProblem& problem, const ImageTrainingOptions& options,
                      const FitJob& job);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_TRAINING_H_
