// The report format seam: one format is one file in reports/ and one line in formats.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// The subject of a report: not every format can show each.
enum class ReportKind : unsigned {
  kRun = 1u << 0,     // a diagnosis
  kTrials = 1u << 1,  // of `prove` and `ab`
  kTarget = 1u << 2,  // `prove --target`
  kSweep = 1u << 3,
  kGate = 1u << 4,
  kComparison = 1u << 5,  // `compare`
};
inline constexpr unsigned kEveryReport = (1u << 6) - 1;
constexpr unsigned operator|(ReportKind a, ReportKind b) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b);
}
constexpr unsigned operator|(unsigned kinds, ReportKind one) {
  return kinds | static_cast<unsigned>(one);
}
std::string_view ReportKindName(ReportKind kind);  // "a gate", "a sweep" …
ReportKind KindOf(const Report& report);

struct OutputFile {
  std::string name, bytes;
};

// What a format writes to: bytes in memory, which the caller stores or prints.
struct Output {
  std::string bytes;
  bool color = false;  // ANSI colours are allowed
  int columns = 80;
  std::vector<OutputFile> files;  // instead of `bytes`, for a format that writes a folder
};

struct Format {
  std::string_view id;       // "text", "json"
  std::string_view purpose;  // "a page that works offline"
  Result<void> (*write)(const Report&, Output&);
  bool folder = false;  // it writes several files
  // Returns an error if no report can be written in this format here. Null: it always can.
  Result<void> (*check)() = nullptr;
  unsigned carries = kEveryReport;  // the kinds of report that it can show, or-ed together

  bool Carries(ReportKind kind) const { return (carries & static_cast<unsigned>(kind)) != 0; }
};

}  // namespace loopscope
