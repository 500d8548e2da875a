#include "models/image/pixel_cnn.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "models/adam.h"
#include "models/image/causal_graph.h"
#include "models/image/causal_network.h"
#include "models/image/causal_sampler.h"
#include "models/image/logistic_mixture.h"
#include "models/image/network.h"
#include "models/image/parameter_average.h"

namespace lfiw::models {
namespace {

// images of one task
constexpr std::int64_t kSampleBlock = 50;
constexpr std::int64_t kEvaluationBlock = 10;

struct Size {
  std::int64_t channels, height, width;
};

void CheckSize(const Size& size, const PixelCnnOptions& options) {
  const std::int64_t unit = std::int64_t{1} << (options.levels - 1);
  if (size.channels != 1 && size.channels != 3) {
    Throw<ConfigError>("PixelCNN++: images have {} channels, expected 1 or 3", size.channels);
  }
  if (size.height % unit != 0 || size.width % unit != 0 || size.height < 1 || size.width < 1) {
    Throw<ConfigError>("PixelCNN++: images are {} x {}, expected sides that {} divides ({} levels)",
                       size.height, size.width, unit, options.levels);
  }
}

}  // namespace

struct PixelCnn::Impl {
  Impl(const PixelCnnOptions& given, const Size& image_size, const Stream& stream)
      : options(given),
        size(image_size),
        mixture{size.channels, options.components},
        causal(MakePixelCnnGraph({.channels = size.channels,
                                  .outputs = mixture.parameter_count(),
                                  .filters = options.filters,
                                  .blocks = options.blocks,
                                  .levels = options.levels,
                                  .dropout = options.dropout}),
               network.layout),
        device(TorchDevice(ResolveDevice(options.training.device))) {
    PrepareTorchForImages();
    network.Draw(stream);
  }

  PixelCnnOptions options;
  Size size;
  LogisticMixture mixture;
  Network network;
  CausalNetwork causal;
  at::Device device;
};

PixelCnn::PixelCnn(const PixelCnnOptions& options, std::int64_t channels, std::int64_t height,
                   std::int64_t width, const Stream& stream) {
  CheckSize({channels, height, width}, options);
  impl_ = std::make_unique<Impl>(options, Size{channels, height, width}, stream);
}
PixelCnn::~PixelCnn() = default;
PixelCnn::PixelCnn(PixelCnn&&) noexcept = default;
PixelCnn& PixelCnn::operator=(PixelCnn&&) noexcept = default;

std::vector<double> PixelCnn::LogProbability(const ImageBatch& images) const {
  const Size& size = impl_->size;
  if (images.channels != size.channels || images.height != size.height ||
      images.width != size.width) {
    Throw<DataError>("PixelCNN++ of {} x {} x {} pixels cannot score images of {} x {} x {}",
                     size.height, size.width, size.channels, images.height, images.width,
                     images.channels);
  }
  std::vector<double> log_probability(static_cast<std::size_t>(images.count));
  ParallelBlocks(images.count, kEvaluationBlock, [&](std::int64_t begin, std::int64_t end) {
    const c10::InferenceMode inference;
    Pass pass = impl_->network.MakePass(PassMode::kInference, impl_->device);
    const at::Tensor x = ImageTensor(images, IndexList(begin, end)).to(impl_->device);
    const at::Tensor pixels = impl_->mixture.LogProbability(impl_->causal(pass, x), x);
    const at::Tensor sums = pixels.to(at::kDouble).sum({1, 2}).to(at::kCPU);
    std::copy_n(sums.data_ptr<double>(), end - begin, log_probability.begin() + begin);
  });
  return log_probability;
}

double PixelCnn::BitsPerDimension(const ImageBatch& images) const {
  double sum = 0.0;
  for (const double nats : LogProbability(images)) sum -= nats;
  return sum / (std::numbers::ln2 * static_cast<double>(images.count * images.image_size()));
}

ImageBatch PixelCnn::Sample(const Stream& stream, std::int64_t first, std::int64_t count,
                            Progress* progress) const {
  const auto [channels, height, width] = impl_->size;
  const LogisticMixture& mixture = impl_->mixture;
  const std::vector<CausalFilter> filters =
      FiltersForSampling(impl_->causal, impl_->network.MakePass(PassMode::kInference, at::kCPU));
  ImageBatch images = EmptyImages(count, height, width, channels);
  SampleBlocks(count, kSampleBlock, progress, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Stream> streams;
    for (std::int64_t i = begin; i < end; ++i) {
      streams.push_back(stream.Child(static_cast<std::uint64_t>(first + i)));
    }
    const auto draw = [&](const ConstMatrixRef& outputs, std::span<std::uint8_t> bytes) {
      const auto per_pixel = static_cast<std::size_t>(mixture.channels);
      const auto parameters = static_cast<std::size_t>(outputs.cols());
      for (std::size_t i = 0; i < streams.size(); ++i) {
        const float* row = outputs.row(static_cast<Eigen::Index>(i)).data();
        mixture.Sample({row, parameters}, streams[i], bytes.subspan(i * per_pixel, per_pixel));
      }
    };
    ImageBatch block = EmptyImages(end - begin, height, width, channels);
    SampleCausally(impl_->causal.graph(), filters, draw, block);
    std::ranges::copy(block.pixels, images.pixels.begin() + begin * images.image_size());
  });
  return images;
}

MatrixF PixelCnn::PixelDistributions(const ImageBatch& images, std::int64_t image) const {
  const c10::InferenceMode inference;
  Pass pass = impl_->network.MakePass(PassMode::kInference, at::kCPU);
  const at::Tensor parameters =
      impl_->causal(pass, ImageTensor(images, IndexList(image, image + 1)));
  const at::Tensor rows = parameters[0].flatten(1).t().contiguous();
  return Eigen::Map<const MatrixF>(rows.data_ptr<float>(), rows.size(0), rows.size(1));
}

void PixelCnn::Save(const std::string& prefix, NpzFile& file) const {
  impl_->network.Save(prefix, file);
}

void PixelCnn::Load(const NpzFile& file, const std::string& prefix) {
  impl_->network.Load(file, prefix);
}

class PixelCnnTraining : public TrainingProblem {
 public:
  PixelCnnTraining(const ImageBatch& images, const ImageBatch& held_out, PixelCnn& model,
                   std::uint64_t seed)
      : images_(images),
        held_out_(held_out),
        public_(model),
        model_(*model.impl_),
        options_(model_.options),
        seed_(seed),
        adam_(model_.network.parameters.size(), options_.training.adam),
        average_(InitializedByData(), options_.average_decay) {}

  std::vector<std::string> FigureNames() const override {
    if (held_out_.count == 0) return {"bits_per_dimension"};
    return {"bits_per_dimension", "held_out_bits_per_dimension"};
  }

  std::vector<double> Step(std::int64_t step) override {
    const ImageTrainingOptions& training = options_.training;
    const auto number = static_cast<std::uint64_t>(step);
    const auto indices =
        DrawIndices(Stream(seed_, "pixel cnn batch", {number}), training.batch, images_.count);
    const double dimensions = static_cast<double>(training.batch * images_.image_size());
    const auto body = [&](std::int64_t chunk, Pass& pass) -> ChunkLoss {
      const auto [begin, end] = ChunkRange(training.batch, training.chunks, chunk);
      pass.noise = Stream(seed_, "pixel cnn dropout", {number, static_cast<std::uint64_t>(chunk)});
      const auto rows = std::span(indices).subspan(static_cast<std::size_t>(begin),
                                                   static_cast<std::size_t>(end - begin));
      const at::Tensor x = ImageTensor(images_, rows).to(model_.device);
      const at::Tensor loss = -model_.mixture.LogProbability(model_.causal(pass, x), x).sum() /
                              (std::numbers::ln2 * dimensions);
      return {loss, {loss.item<double>()}};
    };
    StepGradient result = ChunkedGradient(model_.network, model_.device, training.chunks, body);
    adam_.set_learning_rate(training.adam.learning_rate *
                            std::pow(options_.rate_decay, static_cast<double>(step)));
    adam_.Step(result.gradient, model_.network.parameters);
    average_.Move(model_.network.parameters, step);
    return result.figures;
  }

  std::vector<double> Evaluate() override {
    if (held_out_.count == 0) return {};
    average_.Swap(model_.network.parameters);
    const double bits = public_.BitsPerDimension(held_out_);
    average_.Swap(model_.network.parameters);
    return {bits};
  }

  void Save(NpzFile& file) const override {
    model_.network.Save("model", file);
    average_.Save("average", file);
    adam_.Save("adam", file);
  }

  void Load(const NpzFile& file) override {
    model_.network.Load(file, "model");
    average_.Load(file, "average");
    adam_.Load(file, "adam");
  }

  // Leaves the averaged parameters in the model.
  void KeepAverage() { average_.Swap(model_.network.parameters); }

 private:
  // The network's parameters, scaled by its activations for the first batch.
  const VectorF& InitializedByData() {
    const auto indices =
        DrawIndices(Stream(seed_, "pixel cnn first batch"), options_.initial_batch, images_.count);
    Pass pass = model_.network.MakePass(PassMode::kInference, at::kCPU);
    model_.causal.Initialize(pass, ImageTensor(images_, indices));
    return model_.network.parameters;
  }

  const ImageBatch& images_;
  const ImageBatch& held_out_;
  PixelCnn& public_;
  PixelCnn::Impl& model_;
  const PixelCnnOptions& options_;
  std::uint64_t seed_;
  Adam adam_;
  ParameterAverage average_;
};

PixelCnnFit TrainPixelCnn(const ImageBatch& images, const ImageBatch& held_out,
                          const PixelCnnOptions& options, std::uint64_t seed, const FitJob& job) {
  CheckOptions(options.training, "training");
  PixelCnnFit fit{PixelCnn(options, images.channels, images.height, images.width,
                           Stream(seed, "pixel cnn weights")),
                  {}};
  PixelCnnTraining problem(images, held_out, fit.model, seed);
  fit.history = Train(problem, options.training, job);
  problem.KeepAverage();
  return fit;
}

}  // namespace lfiw::models
