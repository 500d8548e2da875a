#ifndef LFIW_TESTS_FUZZ_MISREAD_CASE_H_
#define LFIW_TESTS_FUZZ_MISREAD_CASE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/rng.h"
#include "tests/small_logs.h"

namespace lfiw::core {

// What is evaluated.
struct World {
  LinearSystem system;
  LinearPolicy behavior, evaluation;
  double truth = 0.0;
  double size = 0.0;  // of a return: the larger of |truth| and its deviation
};

// A log on its way to a file.
struct Case {
  World world;
  StepTable table;
  TableFormat format = TableFormat::kFlatNpz;
  TableNames names;
  LinearPolicy policy;  // as it is written
  // Changes the file that was written.
  std::function<void(const std::string& path)> spoil;
};

// Makes a system, the policy that logs and one near it that is evaluated, with its value by many
// rollouts.
World MakeWorld(bool falls, bool discrete, Stream& stream);

}  // namespace lfiw::core

#endif  // LFIW_TESTS_FUZZ_MISREAD_CASE_H_
