#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_TABLE_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/omniglot/augmented_training.h"
#include "experiments/omniglot/omniglot_runs.h"
#include "models/calibration.h"

namespace lfiw::experiments {

// A mean over runs and its standard error.
struct RunMean {
  double value = 0.0;
  double standard_error = 0.0;
};

// Test accuracy on one kind of training data.
struct ColumnResult {
  TrainingData data;
  RunMean accuracy;
  RunMean paper;  // the published value: 1200 classes, another generator
};

// Test accuracy of one column less that of another with the same seeds, run by run.
struct PairedDifference {
  TrainingData left, right;
  RunMean accuracy;
};

// A share of the drawings that the weights of a column were made worth, and what that gave.
struct TriedShare {
  TrainingData data;
  double share;             // 0: the exponent is given
  RunMean validation;       // accuracy, which chooses
  RunMean test;             // accuracy
  std::int64_t chosen = 0;  // runs whose column has this share
};

// The weights of the generated drawings in one column of one run.
struct RunWeights {
  std::size_t run;
  TrainingData data;
  double share;                  // that they are worth, 0: the exponent is given
  Calibration calibration = {};  // of the class probability of images left out, 10 bins
  double alpha = 1.0;            // exponent of the weights
  double ess = 0.0;              // of the flattened weights of generated drawings
  double max_weight = 0.0;       // largest share of one of them
};

struct OmniglotTable {
  std::vector<ColumnResult> columns;          // in order of TrainingData
  std::vector<PairedDifference> differences;  // what weights add, and what generated drawings do
  std::vector<TriedShare> shares;             // [columns with weights x shares]
  std::vector<RunWeights> weights;            // [runs x columns with weights]
};

// Of at least two runs. `labels` [m] are the classes of the generated drawings, which are the same
// for every generator.
OmniglotTable MakeTable(const std::vector<OmniglotRun>& runs, std::span<const std::int64_t> labels,
                        const AugmentedOptions& options);

// Mean validation accuracy of a column after each epoch, and its standard error. [epochs]
std::vector<RunMean> ValidationCurve(const std::vector<OmniglotRun>& runs, TrainingData data);

// For the terminal.
std::string TableText(const OmniglotTable& table);

// RFC 4180: a line per column and run.
std::string RunsCsv(const std::vector<OmniglotRun>& runs);

// RFC 4180: a line per column and per difference.
std::string TableCsv(const OmniglotTable& table);

// RFC 4180: a line per column with weights and share tried.
std::string SharesCsv(const OmniglotTable& table);

// RFC 4180: a line per run and column with weights.
std::string WeightsCsv(const OmniglotTable& table);

// "0.2", or "given" of an exponent that was given.
std::string ShareText(double share);

// "0.6603 ± 0.0012".
std::string AccuracyText(const RunMean& mean);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_TABLE_H_
