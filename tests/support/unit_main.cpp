// The main of the unit tests' programs. `core_tests finding host` runs the tests of finding_test.cpp and host_test.cpp;
// without a name, or with --gtest_filter, it is any other program of GoogleTest's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace {

// The filter that runs what a file holds; empty where the program has no test of that file.
std::string TestsOf(const std::string& file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const testing::TestSuite& tests = *all.GetTestSuite(suite);
    for (int at = 0; at < tests.total_test_count(); ++at) {
      const testing::TestInfo& test = *tests.GetTestInfo(at);
      if (std::filesystem::path(test.file()).stem() != file + "_test") continue;
      filter += std::string(tests.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

// What testing::TempDir() names is this program's own: tests of another build may run at the same time.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = testing::TempDir() + "unit-tests-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    setenv("TEST_TMPDIR", (path + "/").c_str(), 1);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (getpid() == owner_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  const pid_t owner_ = getpid();  // a child that a test forks leaves it
  std::filesystem::path path_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  std::string filter;
  for (const std::string& name : std::vector<std::string>(argv + 1, argv + argc)) {
    const std::string tests = TestsOf(name);
    if (tests.empty()) {
      std::fprintf(stderr, "%s: no tests of %s_test.cpp here: name a file of this program\n", argv[0], name.c_str());
      return 2;
    }
    filter += tests;
  }
  if (!filter.empty()) GTEST_FLAG_SET(filter, filter);
  const TemporaryFolder folder;
  return RUN_ALL_TESTS();
}
