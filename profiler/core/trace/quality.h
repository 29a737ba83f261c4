// How far a recording can be trusted, and what its reader should know first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/trace/interval_set.h"

namespace loopscope {

enum class WarningKind : std::uint8_t {
  kOther,
  kOtherProcesses,  // other processes of the file trained too; only one is shown
};

// What a reader should know before trusting the figures. Most warnings are only read, and are created from their text.
struct Warning {
  Warning(std::string what) : text(std::move(what)) {}
  Warning(const char* what) : text(what) {}
  Warning(WarningKind what_kind, std::string what) : kind(what_kind), text(std::move(what)) {}
  operator std::string_view() const { return text; }
  bool operator==(const Warning&) const = default;

  WarningKind kind = WarningKind::kOther;
  std::string text;
};

// A stretch in the middle of a long run that the recording did not keep, from the end of one step to that of
// another.
struct SkippedTime {
  Interval time;  // empty: nothing was skipped
  std::uint64_t steps = 0;
};

// How far the data can be trusted. Printed in every format.
struct Quality {
  std::uint64_t events = 0, dropped = 0, stalls_over_1ms = 0, torn_bytes = 0;
  bool clean_end = false;
  double probe_cost_pct = -1;  // estimated upper bound on the probes' share of the step time; -1 unknown
  std::vector<Warning> warnings;
  SkippedTime skipped;
};

}  // namespace loopscope
