#include "models/image/feature_classifier.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/fit_identity.h"
#include "models/input_noise.h"
#include "models/losses.h"

namespace lfiw::models {
namespace {

// Real rows first, then the generated ones, unscaled.
MatrixF Gather(const FeatureClassifierData& data, const FeatureRows& rows) {
  const std::int64_t real = std::ssize(rows.real), generated = std::ssize(rows.generated);
  MatrixF gathered(real + generated, data.real.cols());
  for (std::int64_t i = 0; i < real; ++i) {
    gathered.row(i) = data.real.row(rows.real[static_cast<std::size_t>(i)]);
  }
  for (std::int64_t i = 0; i < generated; ++i) {
    gathered.row(real + i) = data.generated.row(rows.generated[static_cast<std::size_t>(i)]);
  }
  return gathered;
}

MatrixF Scaled(const Scaler& scaler, const MatrixF& rows) {
  MatrixF scaled(rows.rows(), scaler.active_dim());
  scaler.Scale(rows, scaled);
  return scaled;
}

// 1 for the first `real` rows, 0 for the others.
MatrixF Labels(std::int64_t real, std::int64_t rows) {
  MatrixF labels = MatrixF::Zero(rows, 1);
  labels.topRows(real).setOnes();
  return labels;
}

// Draws the biases of the first layer, which follow its weights in the flat buffer.
void DrawBiases(double deviation, Stream stream, Mlp& network) {
  if (deviation == 0.0 || network.options().hidden_layers == 0) return;
  auto biases = network.parameters().segment(network.input_dim() * network.options().width,
                                             network.options().width);
  for (float& bias : biases) bias = static_cast<float>(deviation * stream.Normal());
}

class FeatureProblem : public FitProblem {
 public:
  // train, validation: scaled rows, the real ones first. Training rows get noise afresh in every
  // step.
  FeatureProblem(MatrixF train, std::int64_t train_real, MatrixF validation,
                 std::int64_t validation_real, const FeatureClassifierOptions& options,
                 const Stream& batches, const Stream& noise, Mlp& network)
      : train_(std::move(train)),
        validation_(std::move(validation)),
        train_real_(train_real),
        validation_real_(validation_real),
        half_(options.fit.batch / 2),
        input_noise_(options.input_noise),
        batches_(batches),
        noise_(noise),
        network_(network),
        inputs_(2 * half_, train_.cols()),
        labels_(Labels(half_, 2 * half_)),
        output_gradient_(2 * half_, 1),
        validation_logits_(validation_.rows(), 1) {}

  VectorF& parameters() override { return network_.parameters(); }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step));
    const auto real = static_cast<std::uint64_t>(train_real_);
    const auto generated = static_cast<std::uint64_t>(train_.rows()) - real;
    for (std::int64_t i = 0; i < half_; ++i) {
      inputs_.row(i) = train_.row(static_cast<Eigen::Index>(stream.Below(real)));
      inputs_.row(half_ + i) =
          train_.row(train_real_ + static_cast<Eigen::Index>(stream.Below(generated)));
    }
    AddInputNoise(input_noise_, noise_.Child(static_cast<std::uint64_t>(step)), inputs_);
    const double loss = LogisticLoss(network_.ForwardTraining(inputs_), labels_, output_gradient_);
    network_.Backward(output_gradient_, gradient);
    return loss;
  }

  double ValidationLoss() override {
    if (validation_.rows() == 0) return 0.0;
    network_.Forward(validation_, validation_logits_);
    return 0.5 * (ClassLoss(0, validation_real_, 1.0f) +
                  ClassLoss(validation_real_, validation_.rows() - validation_real_, 0.0f));
  }

 private:
  // The mean loss of the rows of one class.
  double ClassLoss(std::int64_t begin, std::int64_t count, float label) {
    if (count == 0) return 0.0;
    MatrixF gradient(count, 1);
    return LogisticLoss(validation_logits_.middleRows(begin, count),
                        MatrixF::Constant(count, 1, label), gradient);
  }

  MatrixF train_, validation_;
  std::int64_t train_real_, validation_real_;
  std::int64_t half_;  // rows of each class in a batch
  double input_noise_;
  Stream batches_, noise_;
  Mlp& network_;
  MatrixF inputs_, labels_, output_gradient_, validation_logits_;
};

void Check(const FeatureClassifierData& data, const FeatureClassifierOptions& options) {
  LFIW_ASSERT(data.real.cols() == data.generated.cols());
  if (data.train.real.empty() || data.train.generated.empty()) {
    Throw<DataError>("{} real and {} generated training rows, expected at least 1 of each",
                     data.train.real.size(), data.train.generated.size());
  }
  if (options.fit.batch < 2) {
    Throw<ConfigError>("classifier.fit.batch: {}, expected at least 2 (a row of each class)",
                       options.fit.batch);
  }
}

}  // namespace

FeatureClassifier::FeatureClassifier(Scaler scaler, Mlp network)
    : scaler_(std::move(scaler)), network_(std::move(network)) {
  LFIW_ASSERT(network_.input_dim() == scaler_.active_dim() && network_.output_dim() == 1);
}

template <class Use>
void FeatureClassifier::ForScaledRows(ConstMatrixRef features, const Use& use) const {
  constexpr Eigen::Index kChunkRows = 1000;
  MatrixF inputs;
  for (Eigen::Index begin = 0; begin < features.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min(kChunkRows, features.rows() - begin);
    inputs.resize(rows, scaler_.active_dim());
    scaler_.Scale(features.middleRows(begin, rows), inputs);
    use(begin, inputs);
  }
}

void FeatureClassifier::LogRatios(ConstMatrixRef features, std::span<double> log_ratios) const {
  LFIW_ASSERT(std::ssize(log_ratios) == features.rows());
  MatrixF logits;
  ForScaledRows(features, [&](Eigen::Index begin, const MatrixF& inputs) {
    logits.resize(inputs.rows(), 1);
    network_.Forward(inputs, logits);
    for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
      log_ratios[static_cast<std::size_t>(begin + i)] = static_cast<double>(logits(i, 0));
    }
  });
}

void FeatureClassifier::SmoothedLogRatios(ConstMatrixRef features, double deviation,
                                          std::int64_t draws, Stream stream,
                                          std::span<double> log_ratios) const {
  LFIW_ASSERT(std::ssize(log_ratios) == features.rows() && draws >= 1);
  std::ranges::fill(log_ratios, 0.0);
  MatrixF noisy, logits;
  ForScaledRows(features, [&](Eigen::Index begin, const MatrixF& inputs) {
    logits.resize(inputs.rows(), 1);
    for (std::int64_t k = 0; k < draws; ++k) {
      noisy = inputs;
      AddInputNoise(
          deviation,
          stream.Child(static_cast<std::uint64_t>(k)).Child(static_cast<std::uint64_t>(begin)),
          noisy);
      network_.Forward(noisy, logits);
      for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
        log_ratios[static_cast<std::size_t>(begin + i)] +=
            static_cast<double>(logits(i, 0)) / static_cast<double>(draws);
      }
    }
  });
}

void FeatureClassifier::Save(const std::string& path) const {
  NpzFile file;
  scaler_.Save("features", file);
  network_.Save("network", file);
  file.Write(path);
}

FeatureClassifier FeatureClassifier::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  Scaler scaler = Scaler::Load(file, "features");
  Mlp network = Mlp::Load(file, "network");
  if (network.input_dim() != scaler.active_dim() || network.output_dim() != 1) {
    Throw<DataError>("{}: network maps {} to {} values, expected {} to 1", path,
                     network.input_dim(), network.output_dim(), scaler.active_dim());
  }
  return {std::move(scaler), std::move(network)};
}

FeatureClassifierFit FitFeatureClassifier(const FeatureClassifierData& data,
                                          const FeatureClassifierOptions& options,
                                          std::uint64_t seed, std::int64_t index,
                                          const FitRun& run) {
  Check(data, options);
  const auto number = static_cast<std::uint64_t>(index);
  const MatrixF train = Gather(data, data.train);
  Scaler scaler = Scaler::Fit(train, options.scaler);
  Mlp network(scaler.active_dim(), 1, options.network,
              Stream(seed, "feature classifier weights", {number}));
  DrawBiases(options.bias_deviation, Stream(seed, "feature classifier biases", {number}), network);
  MatrixF validation = Scaled(scaler, Gather(data, data.validation));
  AddInputNoise(options.input_noise, Stream(seed, "feature classifier validation noise", {number}),
                validation);
  FeatureProblem problem(Scaled(scaler, train), std::ssize(data.train.real), std::move(validation),
                         std::ssize(data.validation.real), options,
                         Stream(seed, "feature classifier batch", {number}),
                         Stream(seed, "feature classifier noise", {number}), network);
  FitJob job = FitJob::Of(
      run, fmt::format("feature classifier {}", index),
      FitIdentity(options, seed,
                  fmt::format("{} + {} rows; {} + {} to validate", data.train.real.size(),
                              data.train.generated.size(), data.validation.real.size(),
                              data.validation.generated.size())),
      fmt::format("feature_classifier_{}.npz", index));
  const bool validated = !data.validation.real.empty() || !data.validation.generated.empty();
  job.kept = validated ? KeptParameters::kBestValidation : KeptParameters::kLast;
  FitSummary summary = Fit(problem, options.fit, job);
  return {FeatureClassifier(std::move(scaler), std::move(network)), std::move(summary)};
}

}  // namespace lfiw::models
