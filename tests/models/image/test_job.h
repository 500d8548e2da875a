#ifndef LFIW_TESTS_MODELS_IMAGE_TEST_JOB_H_
#define LFIW_TESTS_MODELS_IMAGE_TEST_JOB_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/run/progress.h"
#include "models/fit.h"

namespace lfiw::models {

// Acts as a user who interrupts after some steps.
class StopAfter : public Progress {
 public:
  explicit StopAfter(std::int64_t steps) : left_(steps) {}
  void Advance(std::int64_t done) override {
    left_ -= done;
    if (left_ == 0) InterruptRequested() = true;
  }
  void Note(const std::string& /*text*/) override {}

 private:
  std::int64_t left_;
};

// A job without checkpoint, or with one at a path.
inline FitJob TestJob(const std::string& checkpoint = "", Progress* progress = nullptr) {
  FitJob job;
  job.name = "test";
  job.identity = "1";
  job.checkpoint = checkpoint;
  job.progress = progress;
  return job;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_IMAGE_TEST_JOB_H_
