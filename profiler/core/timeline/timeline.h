// A Trace in order: its steps, what each instant was spent on, ops with their parents, and all interval arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/devices/device_timeline.h"
#include "profiler/core/result.h"
#include "profiler/core/steps/step_table.h"
#include "profiler/core/timeline/whole_run.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// What an average step spends on one line of the program, in one part of the step.
struct LineShare {
  std::uint32_t stack = kNone;  // index into Trace::stacks; kNone: no line is known for this time
  StringId what = 0;            // the operator, or the function that the line called longest; 0: its own code
  Part part = Part::kOther;
  bool in_operator = false;  // the time of outermost operators; else between them
  double ms = 0;             // per steady step
  std::uint64_t calls = 0;   // followed calls per step, 0 where none were followed
};

class Timeline {
 public:
  // Never fails: with too little in the trace, steps() is empty and why_no_steps() says why.
  static Timeline Build(Trace trace);

  const Trace& trace() const { return trace_; }
  // What was measured after the run, of what the timeline showed.
  void Add(std::vector<MeasuredGain> gains) { trace_.gains.insert(trace_.gains.end(), gains.begin(), gains.end()); }

  // --- Steps -------------------------------------------------------------------------------------------------------
  // As in StepTable; lists of steps are indices into steps().
  std::span<const Step> steps() const { return steps_.all(); }
  std::span<const std::uint32_t> steady() const { return steps_.steady(); }
  std::span<const std::uint32_t> timed() const { return steps_.timed(); }
  std::span<const std::uint32_t> undisturbed() const { return steps_.undisturbed(); }
  std::span<const PartedStep> parted() const { return steps_.parted(); }
  int step_at(std::int64_t time_ns) const { return steps_.At(time_ns); }
  std::string_view clock() const { return steps_.clock(); }
  double mean_step_ms() const { return steps_.mean_ms(); }
  double per_epoch_ms() const { return steps_.per_epoch_ms(); }
  std::uint64_t steps_per_epoch() const { return steps_.steps_per_epoch(); }
  std::span<const std::int64_t> epoch_starts() const { return epoch_starts_; }  // of the training loader, sorted
  const std::string& why_no_steps() const { return why_no_steps_; }  // why steady() is empty; "" when it is not
  double part_ms(Part part) const;                                   // a partition of mean_step_ms(), by parted()
  bool evaluation_seen() const { return !evaluation_.intervals().empty(); }

  // --- Threads and what they do -------------------------------------------------------------------------------------
  std::uint32_t training_thread() const { return training_thread_; }  // index into trace().threads; kNone when unknown
  std::span<const std::uint32_t> step_threads() const { return step_threads_; }  // it, then the autograd engine's
  bool loader_known() const { return loader_known_; }  // false: loader_wait cannot be told apart from other time
  const IntervalSet& part(Part part) const { return part_sets_[static_cast<int>(part)]; }  // whole run
  const IntervalSet& evaluation() const { return evaluation_; }  // forward passes without backward at boundaries

  const WholeRun& whole() const { return whole_; }

  // --- Lines ---------------------------------------------------------------------------------------------------------
  // Sums to mean_step_ms(), costliest first; empty where no lines are known.
  std::span<const LineShare> lines() const { return lines_; }

  // --- Devices -------------------------------------------------------------------------------------------------------
  std::span<const DeviceTimeline> devices() const { return devices_; }  // those that did any work
  const DeviceCoverage& device_coverage() const { return device_coverage_; }

  // --- Events ------------------------------------------------------------------------------------------------------
  const Event& event(EventRef ref) const { return trace_.threads[ref.thread].events[ref.index]; }
  std::string_view name(EventRef ref) const { return trace_.text(event(ref).name); }
  const EventDetail* detail(EventRef ref) const;                                        // null when none was recorded
  std::string_view inputs(EventRef ref) const;                                          // "" when none was recorded
  std::uint32_t parent(EventRef ref) const { return parents_[ref.thread][ref.index]; }  // same thread; kNone at the top
  bool outermost_op(EventRef ref) const;                    // an op with no op above it (ranges do not count)
  std::int64_t self_ns(EventRef ref) const;                 // without its children
  const Where* where(EventRef ref) const;                   // innermost user frame of its own stack or the nearest
                                                            // ancestor's; null when none
  bool inside(EventRef ref, RangeCategory category) const;  // below a range of that category on its thread
  // The deepest forward op that made the graph node with this sequence number; {kNone, kNone} when not seen.
  EventRef producer(std::uint32_t sequence) const;
  // Sequence numbers of the graph nodes that made the op's tensor inputs, each once; empty when not recorded.
  std::vector<std::uint32_t> input_producers(EventRef ref) const;

  // Calls `visit` for every event of `thread` that starts inside `within`, in start order. O(log n + hits).
  void ForEach(std::uint32_t thread, Interval within, const std::function<void(EventRef)>& visit) const;
  // Calls `visit` for every event of the training thread, and of the autograd engine's threads, that starts in a
  // steady step.
  void ForEachSteady(const std::function<void(EventRef)>& visit) const;
  // The same for steady steps that the detail window covers; detail_steps() is how many there are.
  void ForEachDetailed(const std::function<void(EventRef)>& visit) const;
  int detail_steps() const { return steps_.detail_steps(); }

 private:
  friend class TimelineBuilder;
  void ForEachStep(bool detailed, const std::function<void(EventRef)>& visit) const;

  Trace trace_;
  StepTable steps_;
  std::vector<std::int64_t> epoch_starts_;
  std::string why_no_steps_;
  bool loader_known_ = false;
  std::uint32_t training_thread_ = kNone;
  std::vector<std::uint32_t> step_threads_;  // the training thread, then the autograd engine's
  std::array<IntervalSet, kParts> part_sets_;
  IntervalSet evaluation_;
  WholeRun whole_;
  std::vector<LineShare> lines_;
  std::vector<DeviceTimeline> devices_;
  DeviceCoverage device_coverage_;
  std::vector<std::vector<std::uint32_t>> parents_;
  std::vector<std::pair<std::uint32_t, EventRef>> producers_;  // by sequence number
};

using WorkVisitor = std::function<void(const DeviceTimeline&, std::uint32_t index, const DeviceEvent&)>;
// Calls `visit` for all work that begins in a steady step, or in DeviceTimeline::window() if there are no steady steps.
void ForEachWork(const Timeline& timeline, const WorkVisitor& visit);

}  // namespace loopscope
