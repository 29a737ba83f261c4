// Reads .case files: small hand-written traces and what a rule must and must not find in them. The format is described
// in tests/cases/README.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope::test {

struct CaseLine;

// What the rule must report. Bounds that are absent are not checked.
struct Expectation {
  Verdict verdict = Verdict::kClear;
  std::optional<double> cost_at_least, cost_at_most, gain_at_least, gain_at_most, pct_at_least, pct_at_most;
  std::optional<Severity> severity;
  std::optional<std::size_t> evidence;  // how many pieces
  std::optional<std::uint64_t> count;   // of the first evidence
  std::string at;                       // "path:line" of the first evidence; "-" for none
  std::string place;                    // the first place that any evidence has
  std::vector<std::string> text;        // parts of the title, the reason, the advice or an evidence's text
};

struct Case {
  std::string name;
  int line = 0;  // where it begins in the file
  Trace trace;
  Expectation expectation;
};

// "expect found cost>=2 at=train.cpp:41 …"; throws CaseError.
Expectation ReadExpectation(const CaseLine& line);

// How steps with details are laid out: all in them takes `slowed` times as long, as recording details makes it, and
// each is followed by `plain` steps without details that take as long as they say.
struct Layout {
  double slowed = 1;
  int plain = 0;
};

// All cases of a file's text, or an error that names `path` and the line.
Result<std::vector<Case>> ParseCases(std::string_view text, std::string_view path, Layout layout = {});
Result<std::vector<Case>> ReadCases(const std::filesystem::path& path, Layout layout = {});

// What in `findings` is not as expected; empty when all is.
std::string Mismatch(const Expectation& expected, const std::vector<Finding>& findings);

}  // namespace loopscope::test
