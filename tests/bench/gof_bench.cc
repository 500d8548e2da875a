// The time of metrics of images against that of the linear algebra they cannot do without, by CPU
// time of one thread within one run, since clocks drift.
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <ctime>
#include <functional>
#include <vector>

#include "core/parallel.h"
#include "core/rng.h"
#include "experiments/image_gof/frechet_distance.h"
#include "experiments/image_gof/kernel_distance.h"
#include "experiments/image_gof/symmetric_eigen.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kSamples = 10'000;
constexpr std::int64_t kFeatures = 2048;

double ThreadSeconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

MatrixF NormalFeatures(std::uint64_t seed) {
  MatrixF features(kSamples, kFeatures);
  Stream(seed, "bench features")
      .FillNormal(std::span(features.data(), static_cast<std::size_t>(features.size())));
  return features;
}

// c = a' b for a, b [rows, columns].
void Gemm(const MatrixD& a, const MatrixD& b, MatrixD& c) {
  const auto n = static_cast<int>(a.cols());
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, static_cast<int>(a.rows()), 1.0,
              a.data(), n, b.data(), n, 0.0, c.data(), n);
}

// FID of two sets of 10,000 x 2048 features. `of_algebra` is its time over that of two covariance
// products and two eigendecompositions, one with and one without eigenvectors; the goal is 1.5.
void BM_FrechetDistance(benchmark::State& state) {
  SetThreads(1);
  const MatrixF real = NormalFeatures(1), generated = NormalFeatures(2);
  const MatrixD rows = real.cast<double>();
  MatrixD covariance(kFeatures, kFeatures);
  double algebra = 0.0, metric = 0.0, gemm = 0.0;
  for (auto _ : state) {
    gemm += ThreadSeconds([&] {
      Gemm(rows, rows, covariance);
      Gemm(rows, rows, covariance);
    });
    algebra += ThreadSeconds([&] {
      benchmark::DoNotOptimize(DecomposeSymmetric(covariance));
      benchmark::DoNotOptimize(SymmetricEigenvalues(covariance));
    });
    const double seconds = ThreadSeconds([&] {
      const FrechetReference reference(WeightedMoments(real, UniformWeights(kSamples)));
      benchmark::DoNotOptimize(
          reference.Distance(WeightedMoments(generated, UniformWeights(kSamples))));
    });
    metric += seconds;
    state.SetIterationTime(seconds);
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["gemm_s"] = gemm / rounds;
  state.counters["eigen_s"] = algebra / rounds;
  state.counters["of_algebra"] = metric / (gemm + algebra);
}

// KID of the same sets in blocks of 1000. `of_gemm` is its time over that of the three products of
// every block.
void BM_KernelDistance(benchmark::State& state) {
  SetThreads(1);
  constexpr std::int64_t kBlock = 1000;
  const MatrixF real = NormalFeatures(1), generated = NormalFeatures(2);
  const MatrixD block = real.topRows(kBlock).cast<double>().transpose();
  const std::vector<SampleWeights> weights = {UniformWeights(kSamples)};
  MatrixD gram(kBlock, kBlock);
  double gemm = 0.0, metric = 0.0;
  for (auto _ : state) {
    gemm += ThreadSeconds([&] {
      for (std::int64_t i = 0; i < 3 * kSamples / kBlock; ++i) Gemm(block, block, gram);
    });
    const double seconds = ThreadSeconds([&] {
      benchmark::DoNotOptimize(
          PolynomialKernelDistances(real, generated, weights, kBlock, Stream(1, "bench")));
    });
    metric += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["of_gemm"] = metric / gemm;
}

BENCHMARK(BM_FrechetDistance)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_KernelDistance)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lfiw::experiments

BENCHMARK_MAIN();
