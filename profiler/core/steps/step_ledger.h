// What a recording says about the steps of the process that trains. Nothing else reads the marks that say it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

struct StepEnd {
  std::int64_t time_ns = 0;
  std::uint64_t samples = 0;     // 0 unknown
  StringId clock = 0;            // what ended it: "optimizer:SGD#1", "mark" …
  std::uint32_t record = kNone;  // index into Trace::steps; kNone where marks say it all
};

class StepLedger {
 public:
  // `weights`: how much each thread of the trace trains, which decides where no step ends are recorded; may be empty.
  explicit StepLedger(const Trace& trace, std::span<const std::uint64_t> weights = {});

  // The thread that trains, an index into Trace::threads; kNone where none does. Of several processes the first one
  // that took at least half as many steps as any: ranks are joined in order, and at the end of a bounded run one may
  // be a few steps ahead of another.
  std::uint32_t thread() const { return thread_; }
  bool IsOwn(std::uint32_t thread) const;                  // of the process that trains
  std::span<const StepEnd> ends() const { return ends_; }  // of that thread, in order

  // Where one epoch turns into the next, sorted: starts of the training loader after the first step. A loader that
  // prefetches exhausts its sampler some batches before the epoch ends, so ends count only where no start is known.
  std::vector<std::int64_t> EpochTurns(std::int64_t first_step_end_ns) const;
  const std::vector<std::int64_t>& epoch_starts() const { return epoch_starts_; }  // sorted
  const std::vector<std::int64_t>& epoch_ends() const { return epoch_ends_; }

  // The window in which steps are measured; absent where it never opened, or never closed.
  std::optional<std::int64_t> opens_ns() const { return opens_ns_; }
  std::optional<std::int64_t> closes_ns() const { return closes_ns_; }

  // What was recorded when.
  const IntervalSet& without_operators() const { return without_operators_; }
  const IntervalSet& detailed() const { return detailed_; }
  const IntervalSet& followed() const { return followed_; }

  // Where the way to run the steps was switched (MarkKind::kSwitch), in order.
  std::span<const Mark> switches() const { return switches_; }

 private:
  IntervalSet Between(const Trace& trace, MarkKind begin, MarkKind end) const;

  std::uint32_t thread_ = kNone, pid_ = 0;
  std::vector<bool> own_;  // by thread
  std::vector<StepEnd> ends_;
  std::vector<std::int64_t> epoch_starts_, epoch_ends_;
  std::optional<std::int64_t> opens_ns_, closes_ns_;
  IntervalSet without_operators_, detailed_, followed_;
  std::vector<Mark> switches_;
};

// Step ends in the trace, of all processes.
std::uint64_t StepsOfAll(const Trace& trace);

}  // namespace loopscope
