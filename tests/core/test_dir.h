#ifndef LFIW_TESTS_CORE_TEST_DIR_H_
#define LFIW_TESTS_CORE_TEST_DIR_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace lfiw::core {

// An empty directory of the running test's own, removed at the end.
class TestDir {
 public:
  TestDir() {
    static int count = 0;
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string("lfiw_") + info->test_suite_name() + "_" + info->name() + "_" +
             std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestDir() { std::filesystem::remove_all(path_); }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Number of files and directories directly inside.
  std::ptrdiff_t Count() const {
    return std::distance(std::filesystem::directory_iterator(path_),
                         std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

// A path in a directory of the running process's own, removed when it ends.
inline std::string TestFile(const std::string& name) {
  static const TestDir dir;
  return dir / name;
}

}  // namespace lfiw::core

#endif  // LFIW_TESTS_CORE_TEST_DIR_H_
