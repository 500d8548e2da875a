#ifndef LFIW_TESTS_CORE_LOGS_TEXT_SAMPLES_H_
#define LFIW_TESTS_CORE_LOGS_TEXT_SAMPLES_H_

#include <string>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {

// Loads a log whose file holds this text.
inline LoadedLog LoadText(const std::string& text) {
  const TestDir dir;
  WriteFileAtomically(dir / "log", text);
  return LoadLog(dir / "log");
}

// The message of the DataError that loading such a log throws.
inline std::string LoadError(const std::string& text) {
  try {
    LoadText(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lfiw::core

#endif  // LFIW_TESTS_CORE_LOGS_TEXT_SAMPLES_H_
