// A training step, the parts it is divided into, and the lines of the program that an average one is spent on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// The parts that a step of the training thread is divided into; they partition its wall time.
enum class Part { kLoaderWait, kCopyToDevice, kForward, kBackward, kOptimizer, kSyncWait, kCommunication, kOther };
inline constexpr int kParts = 8;
std::string_view PartName(Part part);  // "loader_wait", "h2d_copy", "forward", … as in the report's JSON

struct Step {
  Interval time;
  std::uint64_t samples = 0;  // 0 unknown
  bool warmup = false;        // before the window: rules ignore it
  bool boundary = false;      // an epoch ended inside: reported separately, not steady state
  bool evaluates = false;     // an evaluation ran inside: likewise
  bool transient = false;     // the loop had not settled yet: likewise
  bool operators = true;      // they were recorded; else only ranges and marks were
  bool detail = false;        // the detail window covers it: details (inputs, stacks) are complete
  bool followed = false;      // calls were followed in it, which slowed it down
  bool plain() const { return !warmup && !boundary && !evaluates && !transient; }
  bool disturbed() const { return detail || followed; }
  std::array<std::int64_t, kParts> parts_ns{};  // sums to time.length()
};

// A step whose parts are known. It stands for others of about its length: `weight` times its own time belongs to such.
struct PartedStep {
  std::uint32_t index = 0;
  double weight = 1;
};

// What an average step spends on one line of the program, in one part of the step.
struct LineShare {
  std::uint32_t stack = kNone;  // index into Trace::stacks; kNone: no line is known for this time
  StringId what = 0;            // the operator, or the function that the line called longest; 0: its own code
  Part part = Part::kOther;
  bool in_operator = false;  // the time of outermost operators; else between them
  double ms = 0;             // per steady step
  std::uint64_t calls = 0;   // followed calls per step, 0 where none were followed
};

}  // namespace loopscope
