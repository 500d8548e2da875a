#include "models/image/conv_classifier.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "models/adam.h"
#include "models/image/conv_trunk.h"
#include "models/image/network.h"

namespace lfiw::models {
namespace {

// images of one task in inference
constexpr std::int64_t kBlock = 100;

// Cross-entropy in nats of every row [n].
at::Tensor CrossEntropy(const at::Tensor& logits, const at::Tensor& labels) {
  if (logits.size(1) > 1) {
    return at::nll_loss(at::log_softmax(logits, 1), labels, {}, at::Reduction::None);
  }
  const at::Tensor z = logits.squeeze(1);
  return at::softplus(z) - z * labels.to(at::kFloat);
}

at::Tensor Predicted(const at::Tensor& logits) {
  return logits.size(1) > 1 ? logits.argmax(1) : (logits.squeeze(1) > 0.0).to(at::kLong);
}

// Noise of the shape of an image tensor; none with a deviation of 0.
at::Tensor WithNoise(at::Tensor images, double deviation, Stream stream) {
  if (deviation == 0.0) return images;
  const at::Tensor noise = at::empty(images.sizes(), at::kFloat);
  stream.FillNormal(std::span(noise.data_ptr<float>(), static_cast<std::size_t>(noise.numel())));
  return images + deviation * noise;
}

void CheckSet(const LabeledImages& set, const ImageBatch& like, std::int64_t outputs,
              const std::string& name) {
  if (set.rows.size() != set.labels.size() ||
      (!set.weights.empty() && set.weights.size() != set.rows.size())) {
    Throw<DataError>("classifier: {} has {} rows, {} labels and {} weights, expected equal numbers",
                     name, set.rows.size(), set.labels.size(), set.weights.size());
  }
  const ImageBatch& images = *set.images;
  if (images.height != like.height || images.width != like.width ||
      images.channels != like.channels) {
    Throw<DataError>("classifier: images of {} are {} x {} x {}, expected {} x {} x {}", name,
                     images.height, images.width, images.channels, like.height, like.width,
                     like.channels);
  }
  const std::int64_t labels = std::max<std::int64_t>(outputs, 2);
  for (std::size_t i = 0; i < set.rows.size(); ++i) {
    LFIW_ASSERT(set.rows[i] >= 0 && set.rows[i] < images.count);
    if (set.labels[i] < 0 || set.labels[i] >= labels) {
      Throw<DataError>("classifier: label {} of {} is {}, expected 0 to {}", i, name, set.labels[i],
                       labels - 1);
    }
  }
}

void CheckWeights(const LabeledImages& set, const std::string& name) {
  double sum = 0.0;
  for (std::size_t i = 0; i < set.weights.size(); ++i) {
    if (!std::isfinite(set.weights[i]) || set.weights[i] < 0.0) {
      Throw<DataError>("classifier: weight {} of {} is {}, expected a finite number from 0", i,
                       name, set.weights[i]);
    }
    sum += set.weights[i];
  }
  if (!set.weights.empty() && sum <= 0.0) {
    Throw<DataError>("classifier: all weights of {} are 0, nothing is left to train on", name);
  }
}

}  // namespace

struct ConvClassifier::Impl {
  Impl(const ConvClassifierOptions& given, const ConvTrunkSize& image_size, const Stream& stream)
      : options(given),
        size(image_size),
        device(TorchDevice(ResolveDevice(options.training.device))),
        classify(network.layout, size) {
    PrepareTorchForImages();
    network.Draw(stream);
  }

  // Logits of the rows with noise from a stream that belongs to them.
  at::Tensor Infer(const ImageBatch& images, std::span<const std::int64_t> rows, double noise,
                   const Stream& stream) const {
    const c10::InferenceMode inference;
    Pass pass = network.MakePass(PassMode::kInference, device);
    return classify(pass, WithNoise(ImageTensor(images, rows), noise, stream).to(device))
        .to(at::kCPU);
  }

  ConvClassifierOptions options;
  ConvTrunkSize size;
  at::Device device;
  Network network;
  ConvTrunk classify;
};

ConvClassifier::ConvClassifier(const ConvClassifierOptions& options, std::int64_t outputs,
                               std::int64_t channels, std::int64_t height, std::int64_t width,
                               const Stream& stream) {
  if (std::min(height, width) >> options.blocks < 1) {
    Throw<ConfigError>("classifier: images of {} x {} cannot be halved {} times; give fewer blocks",
                       height, width, options.blocks);
  }
  impl_ = std::make_unique<Impl>(options,
                                 ConvTrunkSize{.channels = channels,
                                               .height = height,
                                               .width = width,
                                               .filters = options.filters,
                                               .blocks = options.blocks,
                                               .outputs = outputs},
                                 stream);
}
ConvClassifier::~ConvClassifier() = default;
ConvClassifier::ConvClassifier(ConvClassifier&&) noexcept = default;
ConvClassifier& ConvClassifier::operator=(ConvClassifier&&) noexcept = default;

void ConvClassifier::CheckSize(const ImageBatch& images) const {
  const ConvTrunkSize& size = impl_->size;
  if (images.channels == size.channels && images.height == size.height &&
      images.width == size.width) {
    return;
  }
  Throw<DataError>("classifier of {} x {} x {} pixels cannot take images of {} x {} x {}",
                   size.height, size.width, size.channels, images.height, images.width,
                   images.channels);
}

MatrixF ConvClassifier::Logits(const ImageBatch& images) const {
  CheckSize(images);
  MatrixF logits(images.count, impl_->size.outputs);
  ParallelBlocks(images.count, kBlock, [&](std::int64_t begin, std::int64_t end) {
    const std::vector<std::int64_t> rows = IndexList(begin, end);
    const at::Tensor block = impl_->Infer(images, rows, 0.0, Stream(0, "no noise")).contiguous();
    std::copy_n(block.data_ptr<float>(), block.numel(), logits.row(begin).data());
  });
  return logits;
}

MatrixF ConvClassifier::SmoothedLogits(const ImageBatch& images, std::int64_t draws,
                                       const Stream& stream) const {
  CheckSize(images);
  LFIW_ASSERT(draws >= 1);
  MatrixF logits(images.count, impl_->size.outputs);
  ParallelBlocks(images.count, kBlock, [&](std::int64_t begin, std::int64_t end) {
    const std::vector<std::int64_t> rows = IndexList(begin, end);
    const Stream own = stream.Child(static_cast<std::uint64_t>(begin));
    at::Tensor sum = at::zeros({end - begin, impl_->size.outputs}, at::kFloat);
    for (std::int64_t k = 0; k < draws; ++k) {
      sum += impl_->Infer(images, rows, impl_->options.input_noise,
                          own.Child(static_cast<std::uint64_t>(k)));
    }
    sum /= static_cast<double>(draws);
    std::copy_n(sum.contiguous().data_ptr<float>(), sum.numel(), logits.row(begin).data());
  });
  return logits;
}

void ConvClassifier::Save(const std::string& prefix, NpzFile& file) const {
  impl_->network.Save(prefix, file);
}

void ConvClassifier::Load(const NpzFile& file, const std::string& prefix) {
  impl_->network.Load(file, prefix);
}

class ConvClassifierTraining : public TrainingProblem {
 public:
  ConvClassifierTraining(const std::vector<LabeledImages>& sets, const LabeledImages& held_out,
                         ConvClassifier& model, std::uint64_t seed)
      : sets_(sets),
        held_out_(held_out),
        model_(*model.impl_),
        options_(model_.options),
        seed_(seed),
        adam_(model_.network.parameters.size(), options_.training.adam) {}

  std::vector<std::string> FigureNames() const override {
    if (held_out_.rows.empty()) return {"loss"};
    return {"loss", "held_out_loss", "held_out_accuracy"};
  }

  std::vector<double> Step(std::int64_t step) override {
    steps_ = step + 1;
    const ImageTrainingOptions& training = options_.training;
    std::vector<Draw> draws;
    for (std::size_t s = 0; s < sets_.size(); ++s) draws.push_back(DrawFrom(s, step));
    const auto body = [&](std::int64_t chunk, Pass& pass) -> ChunkLoss {
      return LossOf(draws, step, chunk, pass);
    };
    const StepGradient result =
        ChunkedGradient(model_.network, model_.device, training.chunks, body);
    adam_.Step(result.gradient, model_.network.parameters);
    return result.figures;
  }

  std::vector<double> Evaluate() override {
    if (held_out_.rows.empty()) return {};
    const auto count = static_cast<std::int64_t>(held_out_.rows.size());
    const std::int64_t blocks = (count + kBlock - 1) / kBlock;
    std::vector<double> losses(static_cast<std::size_t>(blocks)), hits(losses.size());
    ParallelBlocks(count, kBlock, [&](std::int64_t begin, std::int64_t end) {
      const c10::InferenceMode inference;
      const auto first = static_cast<std::size_t>(begin),
                 size = static_cast<std::size_t>(end - begin);
      const at::Tensor logits = model_.Infer(
          *held_out_.images, std::span(held_out_.rows).subspan(first, size), options_.input_noise,
          Stream(seed_, "classifier validation noise", {static_cast<std::uint64_t>(begin)}));
      const at::Tensor labels = at::empty({end - begin}, at::kLong);
      std::copy_n(held_out_.labels.begin() + begin, end - begin, labels.data_ptr<std::int64_t>());
      const auto block = static_cast<std::size_t>(begin / kBlock);
      losses[block] = CrossEntropy(logits, labels).sum().item<double>();
      hits[block] = (Predicted(logits) == labels).sum().item<double>();
    });
    const double loss =
        std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(count);
    const double accuracy =
        std::accumulate(hits.begin(), hits.end(), 0.0) / static_cast<double>(count);
    Remember(options_.kept == KeptClassifier::kLowestLoss ? -loss : accuracy);
    return {loss, accuracy};
  }

  void Save(NpzFile& file) const override {
    model_.network.Save("model", file);
    adam_.Save("adam", file);
    file.Put("kept_step", std::vector<std::int64_t>{kept_step_});
    file.Put("kept_score", std::vector<double>{kept_score_});
    file.Put("kept_parameters", kept_parameters_);
    file.Put("kept_state", kept_state_);
  }

  void Load(const NpzFile& file) override {
    model_.network.Load(file, "model");
    adam_.Load(file, "adam");
    kept_step_ = file.GetIntegers("kept_step").at(0);
    kept_score_ = file.GetDoubles("kept_score").at(0);
    kept_parameters_ = file.GetVector("kept_parameters");
    kept_state_ = file.GetVector("kept_state");
  }

  // Leaves the kept parameters in the model; returns the step they are from.
  std::int64_t Keep() {
    if (kept_step_ == 0) return options_.training.steps;
    model_.network.parameters = kept_parameters_;
    model_.network.state = kept_state_;
    return kept_step_;
  }

 private:
  // Rows, labels and weights that a minibatch takes from one set; the weights with share and
  // normalization in them.
  struct Draw {
    const ImageBatch* images;
    std::vector<std::int64_t> rows, labels;
    std::vector<float> weights;
  };

  Draw DrawFrom(std::size_t s, std::int64_t step) const {
    const LabeledImages& set = sets_[s];
    const Stream stream(seed_, "classifier batch", {static_cast<std::uint64_t>(step), s});
    Draw draw{set.images, {}, {}, {}};
    double sum = 0.0;
    for (const std::int64_t i :
         DrawIndices(stream, options_.training.batch, std::ssize(set.rows))) {
      const auto index = static_cast<std::size_t>(i);
      const double weight = set.weights.empty() ? 1.0 : set.weights[index];
      draw.rows.push_back(set.rows[index]);
      draw.labels.push_back(set.labels[index]);
      draw.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    // a minibatch without weight has no loss
    const double norm = options_.weights == BatchWeights::kRaw
                            ? static_cast<double>(options_.training.batch)
                            : std::max(sum, 1e-30);
    for (float& weight : draw.weights) weight *= static_cast<float>(set.share / norm);
    return draw;
  }

  ChunkLoss LossOf(const std::vector<Draw>& draws, std::int64_t step, std::int64_t chunk,
                   Pass& pass) const {
    const auto [begin, end] = ChunkRange(options_.training.batch, options_.training.chunks, chunk);
    const auto first = static_cast<std::size_t>(begin),
               size = static_cast<std::size_t>(end - begin);
    // all sets go through together, so that batch norm sees one batch
    std::vector<at::Tensor> images;
    std::vector<std::int64_t> labels;
    std::vector<float> weights;
    for (const Draw& draw : draws) {
      images.push_back(ImageTensor(*draw.images, std::span(draw.rows).subspan(first, size)));
      labels.insert(labels.end(), draw.labels.begin() + begin, draw.labels.begin() + end);
      weights.insert(weights.end(), draw.weights.begin() + begin, draw.weights.begin() + end);
    }
    const at::Tensor noisy =
        WithNoise(at::cat(images), options_.input_noise,
                  Stream(seed_, "classifier noise",
                         {static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(chunk)}));
    const at::Tensor logits = model_.classify(pass, noisy.to(model_.device));
    const at::Tensor losses = CrossEntropy(logits, at::tensor(labels, at::kLong).to(model_.device));
    const at::Tensor loss = (losses * at::tensor(weights).to(model_.device)).sum();
    return {loss, {loss.item<double>()}};
  }

  void Remember(double score) {
    if (options_.kept == KeptClassifier::kLast) return;
    if (kept_step_ > 0 && score <= kept_score_) return;
    kept_step_ = steps_;
    kept_score_ = score;
    kept_parameters_ = model_.network.parameters;
    kept_state_ = model_.network.state;
  }

  const std::vector<LabeledImages>& sets_;
  const LabeledImages& held_out_;
  ConvClassifier::Impl& model_;
  const ConvClassifierOptions& options_;
  std::uint64_t seed_;
  Adam adam_;
  std::int64_t steps_ = 0;
  std::int64_t kept_step_ = 0;
  double kept_score_ = 0.0;
  VectorF kept_parameters_, kept_state_;
};

ConvClassifierFit TrainConvClassifier(const std::vector<LabeledImages>& sets,
                                      const LabeledImages& held_out, std::int64_t outputs,
                                      const ConvClassifierOptions& options, std::uint64_t seed,
                                      const FitJob& job) {
  CheckOptions(options.training, "training");
  LFIW_ASSERT(!sets.empty());
  const ImageBatch& like = *sets[0].images;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const std::string name = fmt::format("training set {}", s);
    CheckSet(sets[s], like, outputs, name);
    CheckWeights(sets[s], name);
    if (sets[s].rows.empty()) Throw<DataError>("classifier: {} has no images", name);
  }
  if (!held_out.rows.empty()) CheckSet(held_out, like, outputs, "the held-out set");
  ConvClassifierFit fit{ConvClassifier(options, outputs, like.channels, like.height, like.width,
                                       Stream(seed, "classifier weights")),
                        {}};
  ConvClassifierTraining problem(sets, held_out, fit.model, seed);
  fit.history = Train(problem, options.training, job);
  fit.kept_step = problem.Keep();
  return fit;
}

}  // namespace lfiw::models
