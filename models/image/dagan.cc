#include "models/image/dagan.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "models/adam.h"
#include "models/image/dagan_networks.h"
#include "models/image/network.h"
#include "models/image/parameter_average.h"

namespace lfiw::models {
namespace {

// images of one task in generation
constexpr std::int64_t kGenerateBlock = 50;
// keeps the term for diversity finite where noise moves nothing; of values in [-1, 1]
constexpr double kLeastDifference = 1e-3;

void CheckShape(const DaganOptions& options, std::int64_t side) {
  if (options.widths.size() < 2) {
    Throw<ConfigError>("DAGAN: widths has {} entries, expected at least 2", options.widths.size());
  }
  if (side < (std::int64_t{1} << (options.widths.size() - 1))) {
    Throw<ConfigError>("DAGAN: images of side {} cannot be halved {} times; give fewer widths",
                       side, options.widths.size());
  }
}

void CheckTrainingSet(const ImageBatch& images,
                      const std::vector<std::vector<std::int64_t>>& classes) {
  if (images.height != images.width) {
    Throw<DataError>("DAGAN: images are {} x {}, expected squares", images.height, images.width);
  }
  if (classes.empty()) Throw<DataError>("DAGAN: there is no class to train on");
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].size() < 2) {
      Throw<DataError>("DAGAN: class {} has {} images, expected at least 2 for a pair", c,
                       classes[c].size());
    }
    for (const std::int64_t i : classes[c]) LFIW_ASSERT(i >= 0 && i < images.count);
  }
}

}  // namespace

struct Dagan::Impl {
  Impl(const DaganOptions& given, std::int64_t image_channels, std::int64_t image_side,
       const Stream& stream)
      : options(given),
        channels(image_channels),
        side(image_side),
        device(TorchDevice(ResolveDevice(options.training.device))),
        generate(generator.layout, options, channels, side),
        judge(critic.layout, options, channels, side) {
    PrepareTorchForImages();
    generator.Draw(stream.Child(0));
    critic.Draw(stream.Child(1));
  }

  DaganOptions options;
  std::int64_t channels, side;
  at::Device device;
  Network generator, critic;
  DaganGenerator generate;
  DaganCritic judge;
};

Dagan::Dagan(const DaganOptions& options, std::int64_t channels, std::int64_t side,
             const Stream& stream) {
  CheckShape(options, side);
  impl_ = std::make_unique<Impl>(options, channels, side, stream);
}
Dagan::~Dagan() = default;
Dagan::Dagan(Dagan&&) noexcept = default;
Dagan& Dagan::operator=(Dagan&&) noexcept = default;

ImageBatch Dagan::Generate(const ImageBatch& images, std::span<const std::int64_t> conditions,
                           const Stream& stream, std::int64_t first, Progress* progress) const {
  const std::int64_t side = impl_->side;
  if (images.height != side || images.width != side || images.channels != impl_->channels) {
    Throw<DataError>("DAGAN of {} x {} x {} pixels cannot take images of {} x {} x {}", side, side,
                     impl_->channels, images.height, images.width, images.channels);
  }
  ImageBatch generated = EmptyImages(std::ssize(conditions), side, side, impl_->channels);
  SampleBlocks(generated.count, kGenerateBlock, progress,
               [&](std::int64_t begin, std::int64_t end) {
                 const c10::InferenceMode inference;
                 const auto rows = conditions.subspan(static_cast<std::size_t>(begin),
                                                      static_cast<std::size_t>(end - begin));
                 std::vector<std::int64_t> indices;
                 for (std::int64_t i = begin; i < end; ++i) indices.push_back(first + i);
                 Pass pass = impl_->generator.MakePass(PassMode::kInference, impl_->device);
                 const at::Tensor noise = NoiseTensor(stream, indices, impl_->options.noise_dim);
                 StoreImages(impl_->generate(pass, ImageTensor(images, rows).to(impl_->device),
                                             noise.to(impl_->device)),
                             begin, generated);
               });
  return generated;
}

void Dagan::Save(const std::string& prefix, NpzFile& file) const {
  impl_->generator.Save(prefix + ".generator", file);
  impl_->critic.Save(prefix + ".critic", file);
}

void Dagan::Load(const NpzFile& file, const std::string& prefix) {
  impl_->generator.Load(file, prefix + ".generator");
  impl_->critic.Load(file, prefix + ".critic");
}

class DaganTraining : public TrainingProblem {
 public:
  DaganTraining(const ImageBatch& images, const std::vector<std::vector<std::int64_t>>& classes,
                Dagan& model, std::uint64_t seed, const DaganWatch& watch)
      : images_(images),
        classes_(classes),
        public_(model),
        model_(*model.impl_),
        options_(model_.options),
        seed_(seed),
        watch_(watch),
        generator_adam_(model_.generator.parameters.size(), options_.training.adam),
        critic_adam_(model_.critic.parameters.size(), options_.training.adam),
        average_(model_.generator.parameters, options_.average_decay) {}

  std::vector<std::string> FigureNames() const override {
    return {"wasserstein", "gradient_norm_error", "generator_loss"};
  }

  std::vector<double> Step(std::int64_t step) override {
    double wasserstein = 0.0, penalty = 0.0;
    for (std::int64_t k = 0; k < options_.critic_steps; ++k) {
      const std::vector<double> figures = CriticStep(step, k);
      wasserstein += figures[0] / static_cast<double>(options_.critic_steps);
      penalty += figures[1] / static_cast<double>(options_.critic_steps);
    }
    const double generator_loss = GeneratorStep(step);
    average_.Move(model_.generator.parameters, step);
    steps_ = step + 1;
    return {wasserstein, penalty, generator_loss};
  }

  std::vector<double> Evaluate() override {
    if (watch_) watch_(steps_, public_);
    return {};
  }

  void Save(NpzFile& file) const override {
    public_.Save("model", file);
    generator_adam_.Save("generator_adam", file);
    critic_adam_.Save("critic_adam", file);
    average_.Save("average", file);
  }

  void Load(const NpzFile& file) override {
    public_.Load(file, "model");
    generator_adam_.Load(file, "generator_adam");
    critic_adam_.Load(file, "critic_adam");
    average_.Load(file, "average");
  }

  // Leaves the averaged generator in the model, with moments of batch norm that are its own.
  void KeepAverage() {
    if (options_.average_decay == 0.0) return;
    average_.Swap(model_.generator.parameters);
    SettleState(model_.generator, model_.device, [&](std::int64_t i, Pass& pass) {
      const Chunk chunk = MakeChunk(options_.training.steps + i, options_.critic_steps, 0);
      pass.noise = chunk.stream.Child(0);
      model_.generate(pass, chunk.conditions, chunk.noise);
    });
  }

 private:
  // The images of one chunk, and where its noise is from.
  struct Chunk {
    at::Tensor conditions, partners, noise;
    double share;  // of the batch
    Stream stream;
  };

  // Two different images of a class, perhaps turned alike.
  std::pair<at::Tensor, at::Tensor> DrawPair(Stream stream) const {
    const auto& members = classes_[stream.Below(classes_.size())];
    const std::uint64_t a = stream.Below(members.size()), b = stream.Below(members.size() - 1);
    const std::vector<std::int64_t> indices = {members[a], members[b < a ? b : b + 1]};
    at::Tensor pair = ImageTensor(images_, indices);
    const std::uint64_t quarters = stream.Below(8);
    if (options_.rotate && quarters < 4) {
      pair = at::rot90(pair, static_cast<std::int64_t>(quarters), {2, 3});
    }
    return {pair[0], pair[1]};
  }

  // Chunk `chunk` of the batch named by (step, k); k = critic_steps is the generator's.
  Chunk MakeChunk(std::int64_t step, std::int64_t k, std::int64_t chunk) const {
    const Stream stream(seed_, "dagan batch",
                        {static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(k)});
    const ImageTrainingOptions& training = options_.training;
    const auto [begin, end] = ChunkRange(training.batch, training.chunks, chunk);
    std::vector<at::Tensor> conditions, partners;
    std::vector<std::int64_t> rows;
    for (std::int64_t i = begin; i < end; ++i) {
      auto [condition, partner] = DrawPair(stream.Child(0).Child(static_cast<std::uint64_t>(i)));
      conditions.push_back(condition);
      partners.push_back(partner);
      rows.push_back(i);
    }
    return {.conditions = at::stack(conditions).to(model_.device),
            .partners = at::stack(partners).to(model_.device),
            .noise = NoiseTensor(stream.Child(1), rows, options_.noise_dim).to(model_.device),
            .share = static_cast<double>(end - begin) / static_cast<double>(training.batch),
            .stream = stream.Child(2).Child(static_cast<std::uint64_t>(chunk))};
  }

  at::Tensor GenerateFixed(const Chunk& chunk) const {
    const at::NoGradGuard no_grad;
    Pass pass = model_.generator.MakePass(PassMode::kTraining, model_.device);
    pass.noise = chunk.stream.Child(0);
    return model_.generate(pass, chunk.conditions, chunk.noise);
  }

  // The mean of critic(generated) - critic(real), and the gradient penalty between them.
  std::vector<double> CriticStep(std::int64_t step, std::int64_t k) {
    const auto body = [&](std::int64_t index, Pass& pass) -> ChunkLoss {
      const Chunk chunk = MakeChunk(step, k, index);
      pass.noise = chunk.stream.Child(1);
      const at::Tensor fake = GenerateFixed(chunk);
      at::Tensor place = at::empty({fake.size(0), 1, 1, 1});
      Stream between = chunk.stream.Child(2);
      between.FillUniform({place.data_ptr<float>(), static_cast<std::size_t>(place.numel())});
      const at::Tensor mixed = at::lerp(chunk.partners, fake, place.to(model_.device));
      const at::Tensor wasserstein = model_.judge(pass, chunk.conditions, chunk.partners).mean() -
                                     model_.judge(pass, chunk.conditions, fake).mean();
      const at::Tensor penalty = GradientPenalty(model_.judge, pass, chunk.conditions, mixed);
      return {chunk.share * (options_.penalty * penalty - wasserstein),
              {chunk.share * wasserstein.item<double>(), chunk.share * penalty.item<double>()}};
    };
    const StepGradient result =
        ChunkedGradient(model_.critic, model_.device, options_.training.chunks, body);
    critic_adam_.Step(result.gradient, model_.critic.parameters);
    return result.figures;
  }

  // max(0, d / d' - 1): d is the mean difference of two drawings of a class, d' that of two
  // drawings generated from one by different noise. It is 0 when the noise moves drawings as much
  // as writers do, and large when it does not move them (as in Mao et al. 2019, without a bound).
  at::Tensor LackOfDiversity(const Chunk& chunk, Pass& pass, const at::Tensor& fake) const {
    const std::int64_t n = fake.size(0);
    const std::vector<std::int64_t> rows = IndexList(n);
    const Stream stream = chunk.stream.Child(3);
    const at::Tensor other = model_.generate(
        pass, chunk.conditions, NoiseTensor(stream, rows, options_.noise_dim).to(model_.device));
    const at::Tensor real = (chunk.conditions - chunk.partners).abs().mean();
    return at::relu(real / ((fake - other).abs().mean() + kLeastDifference) - 1.0);
  }

  // The mean of -critic(generated), and the term for diversity.
  double GeneratorStep(std::int64_t step) {
    const auto body = [&](std::int64_t index, Pass& pass) -> ChunkLoss {
      const Chunk chunk = MakeChunk(step, options_.critic_steps, index);
      pass.noise = chunk.stream.Child(0);
      Pass judge = model_.critic.MakePass(PassMode::kTraining, model_.device);
      judge.noise = chunk.stream.Child(1);
      const at::Tensor fake = model_.generate(pass, chunk.conditions, chunk.noise);
      at::Tensor loss = -chunk.share * model_.judge(judge, chunk.conditions, fake).mean();
      const double reported = loss.item<double>();
      if (options_.diversity > 0.0) {
        loss = loss + chunk.share * options_.diversity * LackOfDiversity(chunk, pass, fake);
      }
      return {loss, {reported}};
    };
    const StepGradient result =
        ChunkedGradient(model_.generator, model_.device, options_.training.chunks, body);
    generator_adam_.Step(result.gradient, model_.generator.parameters);
    return result.figures[0];
  }

  const ImageBatch& images_;
  const std::vector<std::vector<std::int64_t>>& classes_;
  Dagan& public_;
  Dagan::Impl& model_;
  const DaganOptions& options_;
  std::uint64_t seed_;
  const DaganWatch& watch_;
  std::int64_t steps_ = 0;
  Adam generator_adam_, critic_adam_;
  ParameterAverage average_;
};

DaganFit TrainDagan(const ImageBatch& images, const std::vector<std::vector<std::int64_t>>& classes,
                    const DaganOptions& options, std::uint64_t seed, const FitJob& job,
                    const DaganWatch& watch) {
  CheckOptions(options.training, "training");
  CheckTrainingSet(images, classes);
  DaganFit fit{Dagan(options, images.channels, images.height, Stream(seed, "dagan weights")), {}};
  DaganTraining problem(images, classes, fit.model, seed, watch);
  fit.history = Train(problem, options.training, job);
  problem.KeepAverage();
  return fit;
}

}  // namespace lfiw::models
