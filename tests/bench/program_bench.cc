// What asking a program for actions costs beyond its own work: batches of HalfCheetah's size go to
// a Python program that answers zeros. Needs a python3 with numpy.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/rng.h"
#include "policies/programs/program_policy.h"
#include "tests/test_paths.h"

namespace lfiw::policies {
namespace {

constexpr std::int64_t kObservations = 17;
constexpr std::int64_t kActions = 6;

std::string ZerosCommand() {
  return "PYTHONPATH=" + SourceFile("policies/export") +
         " python3 -c 'import numpy, serve_policy; serve_policy.serve(lambda o, noise, steps: "
         "numpy.zeros((len(o), 6)), 17, 6, 6)'";
}

void BM_ProgramBatch(benchmark::State& state) {
  std::optional<ProgramPolicy> policy;
  try {
    policy.emplace(ZerosCommand());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
    return;
  }
  const std::int64_t rows = state.range(0);
  MatrixF observations(rows, kObservations), noise(rows, kActions), actions(rows, kActions);
  Stream(0, "observations")
      .FillNormal(std::span(observations.data(), static_cast<std::size_t>(observations.size())));
  noise.setZero();
  const std::vector<std::int64_t> steps(static_cast<std::size_t>(rows));
  for (auto _ : state) policy->Sample(observations, steps, noise, actions);
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(BM_ProgramBatch)->Arg(1)->Arg(64)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace lfiw::policies

BENCHMARK_MAIN();
