#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/visitor.h"
#include "experiments/experiment.h"
#include "experiments/image_gof/gof_config.h"

namespace lfiw {

// The samples of one generator.
struct GeneratorOptions {
  std::string name;
  std::vector<std::string> samples;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the generator in tables");
    v.Field("samples", samples, "its images or their features: files as for gof");
  }
};

// The paper's tables: goodness of fit over several runs, and bias and variance of mean features.
struct GofTableConfig {
  std::string name = "gof_table";
  ExperimentKind experiment = ExperimentKind::kGofTable;
  std::uint64_t seed = 0;
  std::vector<std::string> real_train;
  std::vector<std::string> real_test;
  std::string features;
  std::vector<GeneratorOptions> generators;
  std::int64_t runs = 10;
  std::vector<std::int64_t> sizes = {};
  GofClassifierOptions classifier;
  std::vector<double> alphas = {0.0, 0.25, 0.5, 0.75, 1.0};
  std::vector<double> betas = {0.001, 0.01, 0.1, 1.0};
  std::int64_t kid_block = 1000;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("seed", seed, "root seed");
    v.Field("real_train", real_train,
            "real images for the classifiers, and against the others for the reference");
    v.Field("real_test", real_test, "real images that metrics are measured against");
    v.Field("features", features, "network that features come from, as for gof");
    v.Field("generators", generators, "list of {name, samples}");
    v.Field("runs", runs, "parts of each generator's samples, one run each", Between(2, 1000));
    v.Field("sizes", sizes, "samples T of a draw for bias and variance; none: not measured",
            AtLeast(2));
    v.Field("classifier", classifier, "classifier of real against generated features");
    v.Field("alphas", alphas, "exponents of the flattened weights (bias and variance)",
            AtLeast(0.0));
    v.Field("betas", betas, "lower bounds of the clipped weights (bias and variance)",
            AtLeast(0.0));
    v.Field("kid_block", kid_block, "most samples in a block of the KID", AtLeast(2));
  }
};

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_
