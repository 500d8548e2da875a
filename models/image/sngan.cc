#include "models/image/sngan.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "models/adam.h"
#include "models/image/network.h"
#include "models/image/parameter_average.h"
#include "models/image/sngan_networks.h"

namespace lfiw::models {
namespace {

// images of one task in sampling
constexpr std::int64_t kSnganSampleBlock = 50;

SnganSize CheckedSize(std::int64_t channels, std::int64_t height, std::int64_t width) {
  if (height != width || height < 8 || height % 8 != 0) {
    Throw<ConfigError>("SNGAN: images are {} x {}, expected squares whose side is a multiple of 8",
                       height, width);
  }
  return {channels, height};
}

}  // namespace

struct Sngan::Impl {
  Impl(const SnganOptions& given, const SnganSize& image_size, const Stream& stream)
      : options(given), size(image_size) {
    PrepareTorchForImages();
    generate = MakeSnganGenerator(options, size, generator.layout);
    discriminate = MakeSnganDiscriminator(options, size, discriminator.layout);
    generator.Draw(stream.Child(0));
    discriminator.Draw(stream.Child(1));
  }

  SnganOptions options;
  SnganSize size;
  Network generator, discriminator;
  std::unique_ptr<SnganGenerator> generate;
  std::unique_ptr<SnganDiscriminator> discriminate;
};

Sngan::Sngan(const SnganOptions& options, std::int64_t channels, std::int64_t side,
             const Stream& stream)
    : impl_(std::make_unique<Impl>(options, CheckedSize(channels, side, side), stream)) {}
Sngan::~Sngan() = default;
Sngan::Sngan(Sngan&&) noexcept = default;
Sngan& Sngan::operator=(Sngan&&) noexcept = default;

ImageBatch Sngan::Sample(const Stream& stream, std::int64_t first, std::int64_t count,
                         Progress* progress) const {
  const auto [channels, side] = impl_->size;
  const at::Device device = TorchDevice(ResolveDevice(impl_->options.training.device));
  ImageBatch images = EmptyImages(count, side, side, channels);
  SampleBlocks(count, kSnganSampleBlock, progress, [&](std::int64_t begin, std::int64_t end) {
    const c10::InferenceMode inference;
    std::vector<std::int64_t> indices;
    for (std::int64_t i = begin; i < end; ++i) indices.push_back(first + i);
    Pass pass = impl_->generator.MakePass(PassMode::kInference, device);
    const at::Tensor noise = NoiseTensor(stream, indices, impl_->options.noise_dim).to(device);
    StoreImages((*impl_->generate)(pass, noise), begin, images);
  });
  return images;
}

void Sngan::Save(const std::string& prefix, NpzFile& file) const {
  impl_->generator.Save(prefix + ".generator", file);
  impl_->discriminator.Save(prefix + ".discriminator", file);
}

void Sngan::Load(const NpzFile& file, const std::string& prefix) {
  impl_->generator.Load(file, prefix + ".generator");
  impl_->discriminator.Load(file, prefix + ".discriminator");
}

class SnganTraining : public TrainingProblem {
 public:
  SnganTraining(const ImageBatch& images, Sngan& model, std::uint64_t seed)
      : images_(images),
        model_(*model.impl_),
        saved_(model),
        options_(model_.options),
        seed_(seed),
        device_(TorchDevice(ResolveDevice(options_.training.device))),
        generator_adam_(model_.generator.parameters.size(), options_.training.adam),
        discriminator_adam_(model_.discriminator.parameters.size(), options_.training.adam),
        average_(model_.generator.parameters, options_.average_decay) {}

  std::vector<std::string> FigureNames() const override {
    return {"discriminator_loss", "generator_loss"};
  }

  std::vector<double> Step(std::int64_t step) override {
    const ImageTrainingOptions& training = options_.training;
    const double left =
        1.0 - static_cast<double>(step) / static_cast<double>(std::max(training.steps, step + 1));
    generator_adam_.set_learning_rate(training.adam.learning_rate * left);
    discriminator_adam_.set_learning_rate(training.adam.learning_rate * left);
    double discriminator_loss = 0.0;
    for (std::int64_t k = 0; k < options_.critic_steps; ++k) {
      discriminator_loss += DiscriminatorStep(step, k) / static_cast<double>(options_.critic_steps);
    }
    const double generator_loss = GeneratorStep(step);
    average_.Move(model_.generator.parameters, step);
    return {discriminator_loss, generator_loss};
  }

  void Save(NpzFile& file) const override {
    saved_.Save("model", file);
    generator_adam_.Save("generator_adam", file);
    discriminator_adam_.Save("discriminator_adam", file);
    average_.Save("average", file);
  }

  void Load(const NpzFile& file) override {
    saved_.Load(file, "model");
    generator_adam_.Load(file, "generator_adam");
    discriminator_adam_.Load(file, "discriminator_adam");
    average_.Load(file, "average");
  }

  // Leaves the averaged generator in the model, with moments of batch norm that are its own.
  void KeepAverage() {
    if (options_.average_decay == 0.0) return;
    average_.Swap(model_.generator.parameters);
    SettleState(model_.generator, device_, [&](std::int64_t i, Pass& pass) {
      Generate(pass, Named("sngan settling noise", i, 0), 0, options_.generator_batch);
    });
  }

 private:
  Stream Named(const char* purpose, std::int64_t step, std::int64_t k) const {
    return {seed_, purpose, {static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(k)}};
  }

  // Images that the generator makes of the noise rows [begin, end), normalized among themselves.
  at::Tensor Generate(Pass& pass, const Stream& stream, std::int64_t begin,
                      std::int64_t end) const {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = begin; i < end; ++i) rows.push_back(i);
    return (*model_.generate)(pass, NoiseTensor(stream, rows, options_.noise_dim).to(device_));
  }

  at::Tensor GenerateFixed(const Stream& stream, std::int64_t begin, std::int64_t end) const {
    const at::NoGradGuard no_grad;
    Pass pass = model_.generator.MakePass(PassMode::kTraining, device_);
    return Generate(pass, stream, begin, end);
  }

  // Hinge loss: mean of max(0, 1 - D(real)) + max(0, 1 + D(generated)).
  double DiscriminatorStep(std::int64_t step, std::int64_t k) {
    Network& network = model_.discriminator;
    {
      const c10::InferenceMode inference;
      std::vector<at::Tensor> state = network.layout.state.Views(network.state.data());
      model_.discriminate->Iterate(network.layout.parameters.Views(network.parameters.data()),
                                   state);
    }
    const ImageTrainingOptions& training = options_.training;
    const auto indices = DrawIndices(Named("sngan batch", step, k), training.batch, images_.count);
    const Stream noise = Named("sngan noise", step, k);
    const auto body = [&](std::int64_t chunk, Pass& pass) -> ChunkLoss {
      const auto [begin, end] = ChunkRange(training.batch, training.chunks, chunk);
      const auto rows = std::span(indices).subspan(static_cast<std::size_t>(begin),
                                                   static_cast<std::size_t>(end - begin));
      const at::Tensor real = ImageTensor(images_, rows).to(device_);
      const at::Tensor fake = GenerateFixed(noise, begin, end);
      const at::Tensor loss = (at::relu(1.0 - (*model_.discriminate)(pass, real)).sum() +
                               at::relu(1.0 + (*model_.discriminate)(pass, fake)).sum()) /
                              static_cast<double>(training.batch);
      return {loss, {loss.item<double>()}};
    };
    const StepGradient result = ChunkedGradient(network, device_, training.chunks, body);
    discriminator_adam_.Step(result.gradient, network.parameters);
    return result.figures[0];
  }

  // The mean of -D(generated).
  double GeneratorStep(std::int64_t step) {
    const Stream noise = Named("sngan generator noise", step, 0);
    const std::int64_t chunks = std::min(options_.training.chunks, options_.generator_batch);
    const auto body = [&](std::int64_t chunk, Pass& pass) -> ChunkLoss {
      const auto [begin, end] = ChunkRange(options_.generator_batch, chunks, chunk);
      const Pass judge = model_.discriminator.MakePass(PassMode::kTraining, device_);
      const at::Tensor score = (*model_.discriminate)(judge, Generate(pass, noise, begin, end));
      const at::Tensor loss = -score.sum() / static_cast<double>(options_.generator_batch);
      return {loss, {loss.item<double>()}};
    };
    const StepGradient result = ChunkedGradient(model_.generator, device_, chunks, body);
    generator_adam_.Step(result.gradient, model_.generator.parameters);
    return result.figures[0];
  }

  const ImageBatch& images_;
  Sngan::Impl& model_;
  Sngan& saved_;
  const SnganOptions& options_;
  std::uint64_t seed_;
  at::Device device_;
  Adam generator_adam_, discriminator_adam_;
  ParameterAverage average_;
};

SnganFit TrainSngan(const ImageBatch& images, const SnganOptions& options, std::uint64_t seed,
                    const FitJob& job) {
  CheckOptions(options.training, "training");
  const SnganSize size = CheckedSize(images.channels, images.height, images.width);
  SnganFit fit{Sngan(options, size.channels, size.side, Stream(seed, "sngan weights")), {}};
  SnganTraining problem(images, fit.model, seed);
  fit.history = Train(problem, options.training, job);
  problem.KeepAverage();
  return fit;
}

}  // namespace lfiw::models
