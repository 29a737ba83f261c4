// A training step: its time, its kind, what was recorded of it, and the parts it is divided into.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/place.h"

namespace loopscope {

// The parts that a step of the training thread is divided into; they partition its wall time.
enum class Part { kLoaderWait, kCopyToDevice, kForward, kBackward, kOptimizer, kSyncWait, kCommunication, kOther };
inline constexpr int kParts = 8;
std::string_view PartName(Part part);  // "loader_wait", "h2d_copy", "forward", … as in the report's JSON

// A step that is of several kinds counts as the first of them.
enum class StepKind : std::uint8_t {
  kWarmUp,      // before the window opens
  kBoundary,    // one epoch turns into the next
  kEvaluation,  // an evaluation runs in it
  kTransient,   // the loop had not settled yet
  kUsual,       // the only ones that rules look at
};
std::string_view KindName(StepKind kind);  // "warm-up", "epoch boundary", "evaluation", "not settled yet", "usual"

struct Step {
  Interval time;
  std::uint64_t samples = 0;  // 0 unknown
  // Kinds: StepTable decides them.
  bool warmup = false, boundary = false, evaluates = false, transient = false;
  // What was recorded of it.
  bool operators = true;                        // else ranges and marks only
  bool detail = false;                          // inputs and stacks too, from its begin to its end
  bool followed = false;                        // its calls were followed
  std::array<std::int64_t, kParts> parts_ns{};  // sums to time.length()
  std::uint32_t record = kNone;                 // index into Trace::steps; kNone where only marks say what it is

  StepKind kind() const {
    if (warmup) return StepKind::kWarmUp;
    if (boundary) return StepKind::kBoundary;
    if (evaluates) return StepKind::kEvaluation;
    return transient ? StepKind::kTransient : StepKind::kUsual;
  }
  bool plain() const { return kind() == StepKind::kUsual; }
  bool disturbed() const { return detail || followed; }  // recording slowed it down
};

// A step whose parts are known. It represents others of about its length: `weight` times its own time is theirs.
struct PartedStep {
  std::uint32_t index = 0;
  double weight = 1;
};

}  // namespace loopscope
