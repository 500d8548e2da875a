#include "experiments/image_gof/toy_curves.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/index_list.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "core/statistics.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

const double kLogRootTwoPi = 0.5 * std::log(2.0 * M_PI);

double Probability(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

MatrixF Column(const std::vector<double>& values) {
  MatrixF column(std::ssize(values), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    column(static_cast<Eigen::Index>(i), 0) = static_cast<float>(values[i]);
  }
  return column;
}

std::vector<double> DrawNormal(double mean, double deviation, std::int64_t n, Stream stream) {
  std::vector<double> values(static_cast<std::size_t>(n));
  stream.FillNormal(std::span<double>(values));
  for (double& value : values) value = mean + deviation * value;
  return values;
}

std::vector<double> DrawData(const MixtureOptions& mixture, std::int64_t n, Stream stream) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& value : values) value = DrawMixture(mixture, stream);
  return values;
}

std::vector<double> LogRatios(const FeatureClassifier& classifier, const MatrixF& points) {
  std::vector<double> ratios(static_cast<std::size_t>(points.rows()));
  classifier.LogRatios(points, ratios);
  return ratios;
}

// The classifier's options for 2 n points, all of which a batch may hold.
FeatureClassifierOptions OptionsFor(const ToyCurveOptions& toy, std::int64_t n) {
  FeatureClassifierOptions options = toy.classifier;
  options.fit.batch = std::min(options.fit.batch, 2 * n);
  options.fit.validate_every = options.fit.steps;
  return options;
}

class Panel {
 public:
  Panel(const ToyCurveOptions& toy, std::int64_t n, std::uint64_t seed)
      : n_(n),
        seed_(seed),
        data_(DrawData(toy.mixture, n, Named("toy data"))),
        options_(OptionsFor(toy, n)) {
    std::vector<double> grid = GridPoints(toy.grid);
    grid_ = Column(grid);
    mean_ = Mean(data_);
    deviation_ = StandardDeviation(data_, 0);
  }

  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  const MatrixF& grid() const { return grid_; }

  // Classifier 0 sees the data, the others bootstraps of it.
  FeatureClassifier Train(std::int64_t index) const {
    const auto number = static_cast<std::uint64_t>(index);
    const MatrixF real = Column(data_);
    const MatrixF generated = Column(DrawNormal(mean_, deviation_, n_, Named("toy model", number)));
    const std::vector<std::int64_t> all = IndexList(n_);
    std::vector<std::int64_t> drawn = all;
    if (index > 0) {
      Stream stream = Named("toy bootstrap", number);
      for (std::int64_t& row : drawn) {
        row = static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(n_)));
      }
    }
    const FeatureClassifierData data{real, generated, {drawn, all}, {}};
    return FitFeatureClassifier(data, options_, seed_ + static_cast<std::uint64_t>(n_), index)
        .classifier;
  }

  Stream Named(std::string_view purpose, std::uint64_t index = 0) const {
    return {seed_, purpose, {static_cast<std::uint64_t>(n_), index}};
  }

 private:
  std::int64_t n_;
  std::uint64_t seed_;
  std::vector<double> data_;
  FeatureClassifierOptions options_;
  MatrixF grid_;
  double mean_ = 0.0, deviation_ = 0.0;
};

// Log-ratios of all bootstraps at the grid, [bootstraps, points].
MatrixD Bootstrap(const Panel& panel, std::int64_t count, Progress* progress) {
  MatrixD ratios(count, panel.grid().rows());
  ParallelFor(count, [&](std::int64_t b) {
    const std::vector<double> row = LogRatios(panel.Train(b + 1), panel.grid());
    ratios.row(b) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), std::ssize(row));
    if (progress != nullptr) progress->Advance(1);
  });
  return ratios;
}

// The integral of values over the grid by the trapezoid rule.
double Integrate(const std::vector<double>& x, const std::vector<double>& values) {
  double sum = 0.0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    sum += 0.5 * (values[i] + values[i - 1]) * (x[i] - x[i - 1]);
  }
  return sum;
}

}  // namespace

ToyCurveOptions::ToyCurveOptions() {
  classifier.network.width = 100;
  classifier.bias_deviation = 1.0;
  classifier.fit.steps = 300;
  classifier.fit.batch = 200;
  classifier.fit.adam.learning_rate = 1e-2;
  classifier.fit.adam.weight_decay = 1e-4;
}

double NormalLogDensity(double mean, double deviation, double x) {
  const double z = (x - mean) / deviation;
  return -0.5 * z * z - std::log(deviation) - kLogRootTwoPi;
}

double MixtureLogDensity(const MixtureOptions& mixture, double x) {
  const std::vector<double> parts = {NormalLogDensity(mixture.low, mixture.deviation, x),
                                     NormalLogDensity(mixture.high, mixture.deviation, x)};
  return LogSumExp(parts) - std::log(2.0);
}

double DrawMixture(const MixtureOptions& mixture, Stream& stream) {
  const double mean = stream.Uniform() < 0.5 ? mixture.low : mixture.high;
  return mean + mixture.deviation * stream.Normal();
}

std::vector<double> GridPoints(const GridOptions& grid) {
  std::vector<double> points;
  for (std::int64_t i = 0; i < grid.points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(grid.points - 1);
    points.push_back(grid.low + share * (grid.high - grid.low));
  }
  return points;
}

ToyCurves FitToyCurves(const ToyCurveOptions& options, std::int64_t n, std::uint64_t seed,
                       Progress* progress) {
  const Panel panel(options, n, seed);
  const FeatureClassifier classifier = panel.Train(0);
  ToyCurves curves{.n = n, .model_mean = panel.mean(), .model_deviation = panel.deviation()};
  curves.estimate = LogRatios(classifier, panel.grid());
  const MatrixD ratios = Bootstrap(panel, options.bootstraps, progress);
  for (Eigen::Index j = 0; j < ratios.cols(); ++j) {
    const VectorD column = ratios.col(j);
    const std::span<const double> values(column.data(), static_cast<std::size_t>(column.size()));
    curves.low.push_back(Quantile(values, 0.5 - options.level / 2.0));
    curves.high.push_back(Quantile(values, 0.5 + options.level / 2.0));
  }
  curves.held_out_data =
      LogRatios(classifier, Column(DrawData(options.mixture, n, panel.Named("toy held-out data"))));
  curves.held_out_model = LogRatios(
      classifier,
      Column(DrawNormal(panel.mean(), panel.deviation(), n, panel.Named("toy held-out model"))));
  return curves;
}

ToySummary SummarizeToy(const ToyCurveOptions& options, const ToyCurves& curves) {
  const std::vector<double> x = GridPoints(options.grid);
  std::vector<double> gap, width, covered, resampled, divergence, cross;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double log_p = MixtureLogDensity(options.mixture, x[i]);
    const double log_q = NormalLogDensity(curves.model_mean, curves.model_deviation, x[i]);
    const double p = std::exp(log_p), q = std::exp(log_q), both = 0.5 * (p + q);
    const double optimal = log_p - log_q;
    gap.push_back(both * std::pow(Probability(curves.estimate[i]) - Probability(optimal), 2));
    width.push_back(both * (Probability(curves.high[i]) - Probability(curves.low[i])));
    covered.push_back(curves.low[i] <= optimal && optimal <= curves.high[i] ? both : 0.0);
    divergence.push_back(p * optimal);
    cross.push_back(p * curves.estimate[i]);
    resampled.push_back(q * std::exp(curves.estimate[i]));
  }
  ToySummary summary;
  summary.rms_gap = std::sqrt(Integrate(x, gap));
  summary.mean_width = Integrate(x, width);
  summary.coverage = Integrate(x, covered);
  summary.model_divergence = Integrate(x, divergence);
  // KL(p, q w / Z) = KL(p, q) - E_p[log w] + log Z
  summary.resampled_divergence =
      summary.model_divergence - Integrate(x, cross) + std::log(Integrate(x, resampled));
  summary.ess = Summarize(curves.held_out_model).ess;
  summary.partition = EstimateLogPartition(curves.held_out_model);
  summary.conditions = CheckResampling(curves.held_out_data, curves.held_out_model);
  return summary;
}

}  // namespace lfiw::experiments
