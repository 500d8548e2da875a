#ifndef LFIW_TESTS_TEST_PATHS_H_
#define LFIW_TESTS_TEST_PATHS_H_

#include <string>

namespace lfiw {

// The path of a file of the checkout, by its name relative to the root.
std::string SourceFile(const std::string& name);

// The path of the program that was built.
std::string ProgramFile();

}  // namespace lfiw

#endif  // LFIW_TESTS_TEST_PATHS_H_
