// Runs the cases of one file through the rule that the file is named for: case_runner host_sync.case
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/seam.h"
#include "profiler/core/timeline/timeline.h"
#include "tests/support/case_reader.h"

namespace {

int Run(const std::filesystem::path& path) {
  std::string id = path.stem().string();
  for (char& letter : id) letter = letter == '_' ? '-' : letter;
  const loopscope::Analyzer* analyzer = loopscope::FindById(loopscope::AllAnalyzers(), id);
  if (!analyzer) {
    fmt::print(stderr, "{}: no analyzer has the id '{}'\n", path.string(), id);
    return 1;
  }
  auto cases = loopscope::test::ReadCases(path);
  if (!cases) {
    fmt::print(stderr, "{}\n", cases.error().Message());
    return 1;
  }
  int failed = 0;
  for (loopscope::test::Case& one : *cases) {
    const auto timeline = loopscope::Timeline::Build(std::move(one.trace));
    const std::string wrong = loopscope::test::Mismatch(one.expectation, loopscope::Judge(*analyzer, timeline));
    failed += !wrong.empty();
    fmt::print("{} {}:{} {}{}{}\n", wrong.empty() ? "ok  " : "FAIL", path.filename().string(), one.line, one.name,
               wrong.empty() ? "" : ": ", wrong);
  }
  fmt::print("{} cases, {} failed\n", cases->size(), failed);
  return failed == 0 && !cases->empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: case_runner FILE.case\n");
    return 2;
  }
  return Run(argv[1]);
}
