// The outcome of a launch in one message: what, where, what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"
#include "profiler/launch/process.h"
#include "profiler/launch/program.h"

namespace loopscope {

// What the probes saw.
struct Seen {
  bool capture = false;        // there is a readable one
  std::string why_no_capture;  // if it exists but cannot be read
  int steps = 0;               // steps that were counted
};
Seen SeenIn(const Result<Trace>& trace, const std::filesystem::path& directory);

// For ProcessEnd::How::kNotStarted: no such command, not executable, or a world that could not be made.
Error DescribeStart(const ProcessEnd& end, const std::vector<std::string>& command);

// Empty when the program ended normally and steps were seen. Exit codes as for `prove`: 4 when the program failed, 3
// when it ran but nothing could be seen.
std::optional<Error> DescribeOutcome(const ProcessEnd& end, const std::vector<std::string>& command, const Seen& seen);

std::string Shown(const std::vector<std::string>& command);  // as it could be typed

}  // namespace loopscope
