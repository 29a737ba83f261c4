// The steps of a recording: which kind each is of, what was recorded of it, and which of them a figure is taken from.
// Trials, the timeline and every report ask here; nothing else decides what a step is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/steps/step.h"
#include "profiler/core/steps/step_ledger.h"
#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

class StepTable {
 public:
  StepTable() = default;
  // `ends` are the ledger's, or what stands in for them where it has none. The first step begins at first_start_ns.
  StepTable(const Trace& trace, const StepLedger& ledger, std::span<const StepEnd> ends, std::int64_t first_start_ns);

  std::span<const Step> all() const { return steps_; }  // in order
  std::span<Step> all() { return steps_; }
  int At(std::int64_t time_ns) const;                // index of the step that holds it; -1 when in none
  std::string_view clock() const { return clock_; }  // what ends a step: "optimizer:SGD#1", "mark" …
  const std::vector<std::int64_t>& epoch_turns() const { return epoch_turns_; }  // sorted
  std::uint64_t steps_per_epoch() const { return steps_per_epoch_; }  // in the last whole epoch seen; 0 unknown

  // Steps in which some of `evaluation` lies are no usual ones.
  void MarkEvaluations(const IntervalSet& evaluation);
  // Fills the lists below. Steps after the window are dropped, but for those that are special.
  void Choose();
  // The last steady ones, of which not everything is known.
  void KeepSteady(std::size_t count);

  // Usual steps of the window whose operators were recorded, and, if calls were followed in them, their details too:
  // those that rules look at.
  std::span<const std::uint32_t> steady() const { return steady_; }
  // The steady steps, and equally usual ones between them whose operators were not recorded.
  std::span<const std::uint32_t> timed() const { return timed_; }
  // Usual steps that recording did not slow down, of timed() all where these are fewer than five.
  std::span<const std::uint32_t> undisturbed() const { return undisturbed_; }
  // Of undisturbed(), or else of steady(), those whose operators were recorded.
  std::span<const PartedStep> parted() const { return parted_; }
  int detail_steps() const { return detail_steps_; }     // of the steady ones
  double mean_ms() const { return mean_ms_; }            // of undisturbed(); 0 where no step is steady
  double per_epoch_ms() const { return per_epoch_ms_; }  // mean of what a boundary takes beyond that; -1 unknown

 private:
  void AddSteps(const Trace& trace, std::span<const StepEnd> ends, std::int64_t first_start_ns);
  void MarkRecorded(const Trace& trace, const StepLedger& ledger);
  void MarkEpochs(const StepLedger& ledger);
  void MarkTransient();
  void ChooseParted();
  void Summarize();
  double MedianNs(std::span<const std::uint32_t> of) const;
  std::vector<std::uint32_t> LongDisturbed(double times) const;

  std::vector<Step> steps_;
  std::string clock_;
  std::vector<std::int64_t> epoch_turns_;
  std::uint64_t steps_per_epoch_ = 0;
  std::int64_t closes_ns_ = INT64_MAX;  // the window
  std::vector<std::uint32_t> steady_, timed_, undisturbed_;
  std::vector<PartedStep> parted_;
  int detail_steps_ = 0;
  double mean_ms_ = 0, per_epoch_ms_ = -1;
};

}  // namespace loopscope
