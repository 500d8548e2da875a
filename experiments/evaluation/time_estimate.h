#ifndef LFIW_EXPERIMENTS_EVALUATION_TIME_ESTIMATE_H_
#define LFIW_EXPERIMENTS_EVALUATION_TIME_ESTIMATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/log_split.h"
#include "experiments/evaluation/run_context.h"

namespace lfiw::experiments {

// The most that the fits of one kind will take.
struct ExpectedFit {
  std::string what;  // "5 dynamics models"
  double seconds = 0.0;
};

// Times a few gradient steps of each kind of network on the log itself, on all threads, and returns
// what all steps of the dynamics, of `classifiers` classifiers and of learned functions will take:
// less where fits end early. Nothing is kept of these steps. What is estimated after the fits is
// not counted. Throws as the fits.
std::vector<ExpectedFit> EstimateFits(const StageContext& context, const LogSource& log,
                                      const LogSplit& split, std::int64_t classifiers);

// "fits take at most about 3m 10s on 2 threads: 5 dynamics models 2m 05s, 5 classifiers 1m 05s".
std::string ExpectedFitsText(const std::vector<ExpectedFit>& times, std::int64_t threads);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_TIME_ESTIMATE_H_
