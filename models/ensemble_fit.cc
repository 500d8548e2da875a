#include "models/ensemble_fit.h"

#include <fmt/format.h>

namespace lfiw::models {

std::vector<Mlp> MakeNetworks(std::int64_t members, std::int64_t input_dim, std::int64_t output_dim,
                              const MlpOptions& options, std::uint64_t seed,
                              const std::string& purpose) {
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < members; ++k) {
    networks.emplace_back(input_dim, output_dim, options,
                          Stream(seed, purpose, {static_cast<std::uint64_t>(k)}));
  }
  return networks;
}

FitJob EnsembleJob::Of(const FitRun& run, std::int64_t member) const {
  FitJob job = FitJob::Of(run, fmt::format("{} {}", name, member), identity,
                          fmt::format("{}_{}.npz", file, member));
  job.kept = kept;
  return job;
}

}  // namespace lfiw::models
