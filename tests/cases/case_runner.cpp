// Runs the cases of one file through the rule that the file is named for.
//
//   case_runner host_sync.case            each finds what it expects
//   case_runner --slowed host_sync.case   recording details, which slows steps down, changes no verdict and no cost
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/seam.h"
#include "profiler/core/timeline/timeline.h"
#include "tests/support/case_reader.h"

namespace loopscope {
namespace {

constexpr double kSlowed = 1.5;     // times as long; measured: 1.0 to 2.5
constexpr int kPlain = 4;           // steps without details for each with them
constexpr double kRounding = 0.06;  // what only slowed steps show is taken back by their mean

std::vector<Finding> Judged(const Analyzer& analyzer, test::Case& one) {
  return Judge(analyzer, Timeline::Build(std::move(one.trace)));
}

// Why the findings differ; "" where they do not. Costs and titles hold times; which steps a title counts may differ.
std::string Difference(const std::vector<Finding>& plain, const std::vector<Finding>& slowed) {
  if (plain.size() != slowed.size()) return fmt::format("{} findings, not {}", slowed.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const Finding &a = plain[i], &b = slowed[i];
    if (a.verdict != b.verdict) {
      return fmt::format("{}, not {}", VerdictName(b.verdict), VerdictName(a.verdict));
    }
    if (std::abs(a.cost_ms_per_step - b.cost_ms_per_step) > kRounding * a.cost_ms_per_step) {
      return fmt::format("costs {:.3f} ms, not {:.3f} ms", b.cost_ms_per_step, a.cost_ms_per_step);
    }
    if (a.severity != b.severity) return "another severity";
  }
  return "";
}

// What is wrong with a case; `slowed` is the same one with its details slowed down, null where it is not asked about.
std::string Wrong(const Analyzer& analyzer, test::Case& one, test::Case* slowed) {
  if (slowed == nullptr) return test::Mismatch(one.expectation, Judged(analyzer, one));
  // Behind a device that has work the host's time costs nothing: such times are taken as they are.
  return one.trace.devices.empty() ? Difference(Judged(analyzer, one), Judged(analyzer, *slowed)) : "";
}

int Run(const std::filesystem::path& path, bool slowed) {
  std::string id = path.stem().string();
  std::ranges::replace(id, '_', '-');
  const Analyzer* analyzer = FindById(AllAnalyzers(), id);
  if (!analyzer) {
    fmt::print(stderr, "{}: no analyzer has the id '{}'\n", path.string(), id);
    return 1;
  }
  auto cases = test::ReadCases(path, {.plain = slowed ? kPlain : 0});
  if (!cases) {
    fmt::print(stderr, "{}\n", cases.error().Message());
    return 1;
  }
  std::vector<test::Case> slower;
  if (slowed) slower = *test::ReadCases(path, {.slowed = kSlowed, .plain = kPlain});
  int failed = 0;
  for (std::size_t i = 0; i < cases->size(); ++i) {
    test::Case& one = (*cases)[i];
    const std::string wrong = Wrong(*analyzer, one, slowed ? &slower[i] : nullptr);
    failed += !wrong.empty();
    fmt::print("{} {}:{} {}{}{}\n", wrong.empty() ? "ok  " : "FAIL", path.filename().string(), one.line, one.name,
               wrong.empty() ? "" : ": ", wrong);
  }
  fmt::print("{} cases, {} failed\n", cases->size(), failed);
  return failed == 0 && !cases->empty() ? 0 : 1;
}

}  // namespace
}  // namespace loopscope

int main(int argc, char** argv) {
  const bool slowed = argc == 3 && std::string_view(argv[1]) == "--slowed";
  if (argc != 2 && !slowed) {
    fmt::print(stderr, "usage: case_runner [--slowed] FILE.case\n");
    return 2;
  }
  return loopscope::Run(argv[argc - 1], slowed);
}
