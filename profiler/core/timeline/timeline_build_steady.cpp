// Which steps the figures of an average step come from, and those figures.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

// The most that the LibTorch probe adds per op, measured by tests/bench: 0.2 us in a loop whose code stays in the
// caches, 0.7 us among many small operators in Python.
constexpr double kProbeNsPerEvent = 700;
// Of a call that launches, copies or waits, most of it CUPTI's own. On an H100 a step of 324 small kernels and some
// 1300 operators took 15.4 ms where it took 10.1 unrecorded.
constexpr double kCollectorNsPerCall = 15'000;
constexpr std::size_t kMinUndisturbed = 5;  // fewer do not stand for the loop: slowed steps count too

double MedianLength(std::span<const Step> steps, std::span<const std::uint32_t> of) {
  std::vector<double> lengths;
  for (const std::uint32_t i : of) lengths.push_back(static_cast<double>(steps[i].time.length()));
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

// Plain steps that details or followed calls slowed down, and that took `times` the median of their like.
std::vector<std::uint32_t> LongDisturbed(std::span<const Step> steps, double times) {
  std::map<std::pair<bool, bool>, std::vector<std::uint32_t>> kinds;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.plain() && step.disturbed() && step.operators) kinds[{step.detail, step.followed}].push_back(i);
  }
  std::vector<std::uint32_t> found;
  for (const auto& [kind, of] : kinds) {
    const double bar = times * MedianLength(steps, of);
    std::ranges::copy_if(of, std::back_inserter(found),
                         [&](std::uint32_t i) { return static_cast<double>(steps[i].time.length()) > bar; });
  }
  return found;
}

}  // namespace

// The loop has not settled while step after step, from the first of the window on, takes much longer than those of the
// window's second half do: caches fill, a compiler or an allocator warms up.
void TimelineBuilder::MarkTransient(std::int64_t closed_ns) {
  constexpr double kMuchLonger = 1.5;
  constexpr std::size_t kFewestSteps = 12;
  std::vector<Step>& steps = timeline_.steps_;
  std::vector<std::uint32_t> plain;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (steps[i].plain() && steps[i].time.middle_ns() <= closed_ns) plain.push_back(i);
  }
  if (plain.size() < kFewestSteps) return;
  const std::span<const std::uint32_t> late = std::span(plain).subspan(plain.size() / 2);
  const double settled = kMuchLonger * MedianLength(steps, late);
  // Where details slow a step down, it proves nothing, unless all are recorded in detail.
  const bool all_detail = std::ranges::all_of(plain, [&](std::uint32_t i) { return steps[i].detail; });
  std::size_t count = 0, proofs = 0;
  while (count < plain.size() / 2 && static_cast<double>(steps[plain[count]].time.length()) > settled) {
    proofs += all_detail || !steps[plain[count]].disturbed();
    ++count;
  }
  if (proofs < 2) return;
  // Those that details slowed down are in no mean anyway, and rules need them.
  for (std::size_t i = 0; i < count; ++i) steps[plain[i]].transient = all_detail || !steps[plain[i]].disturbed();
}

// Steps after the window are kept only if they are special: not everything in the others was recorded.
void TimelineBuilder::ChooseSteady() {
  std::vector<Step>& steps = timeline_.steps_;
  const std::vector<std::int64_t> ends = TimesOf(MarkKind::kMeasureEnd);
  const std::int64_t closed_ns = ends.empty() ? INT64_MAX : ends.back();
  MarkTransient(closed_ns);
  std::erase_if(
      steps, [&](const Step& step) { return step.time.middle_ns() > closed_ns && !step.boundary && !step.evaluates; });
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].plain() || steps[i].time.middle_ns() > closed_ns) continue;
    if (!steps[i].disturbed()) timeline_.undisturbed_.push_back(i);
    if (steps[i].followed && !steps[i].detail) continue;
    timeline_.timed_.push_back(i);
    if (steps[i].operators) timeline_.steady_.push_back(i);
  }
  if (timeline_.undisturbed_.size() < std::min(kMinUndisturbed, timeline_.timed_.size())) {
    timeline_.undisturbed_ = timeline_.timed_;
  }
  ChooseParted();
}

// Where the operators of some steps only were recorded, these stand for the others: long ones for long ones, so that
// what every tenth step holds is neither missed nor counted too often.
void TimelineBuilder::ChooseParted() {
  constexpr double kLong = 2, kVeryLong = 10;  // times the median
  constexpr double kMuch = 0.3;                // of all steps' time, in very long ones
  const std::vector<Step>& steps = timeline_.steps_;
  std::vector<PartedStep>& parted = timeline_.parted_;
  for (const std::uint32_t i : timeline_.undisturbed_) {
    if (steps[i].operators) parted.push_back({i});
  }
  if (parted.empty()) {
    for (const std::uint32_t i : timeline_.steady_.empty() ? timeline_.undisturbed_ : timeline_.steady_)
      parted.push_back({i});
    return;
  }
  if (parted.size() == timeline_.undisturbed_.size()) return;
  const double median = MedianLength(steps, timeline_.undisturbed_);
  const auto length = [&](std::uint32_t i) { return static_cast<double>(steps[i].time.length()); };
  const auto kind = [&](std::uint32_t i) { return (length(i) > kLong * median) + (length(i) > kVeryLong * median); };
  std::array<double, 3> all{}, known{};  // ns of usual steps, of long and of very long ones
  for (const std::uint32_t i : timeline_.undisturbed_) all[kind(i)] += length(i);
  const auto add = [&](std::uint32_t i) {
    parted.push_back({i});
    known[kind(i)] += length(i);
  };
  for (const PartedStep& one : parted) known[kind(one.index)] += length(one.index);
  const auto missing = [&](int of) { return all[of] > 0 && known[of] == 0; };
  const std::array<bool, 3> missed{false, missing(1), missing(2)};
  for (const std::uint32_t i : LongDisturbed(steps, kLong)) {
    if (missed[kind(i)]) add(i);
  }
  const bool much = all[2] > kMuch * (all[0] + all[1] + all[2]);
  if (missing(2) && much) {
    // Their time is nobody's: what others do, they do not do for so long.
    for (const std::uint32_t i : timeline_.undisturbed_) {
      if (kind(i) == 2) add(i);
    }
  }
  // One kind of long steps stands for the other.
  const bool apart = !missing(1) && !missing(2) && all[2] > 0;
  if (!apart) all = {all[0], all[1] + all[2], 0}, known = {known[0], known[1] + known[2], 0};
  if (known[0] == 0 || missing(1)) return;
  for (PartedStep& one : parted) {
    const int of = apart ? kind(one.index) : std::min(kind(one.index), 1);
    one.weight = all[of] / known[of];
  }
}

void TimelineBuilder::EstimateProbeCost() {
  if (timeline_.trace_.run.source != "capture") return;
  double events = 0, calls = 0, steps_ns = 0, idle_ns = 0;
  for (const std::uint32_t i : timeline_.undisturbed_) {
    if (!timeline_.steps_[i].operators) continue;
    steps_ns += static_cast<double>(timeline_.steps_[i].time.length());
    for (const DeviceTimeline& device : timeline_.devices_) {
      idle_ns += static_cast<double>(device.times(timeline_.steps_[i].time).idle);
    }
    timeline_.ForEach(timeline_.training_thread_, timeline_.steps_[i].time, [&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      ++(event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync) ? calls : events);
    });
  }
  if (events + calls == 0) return;
  // Behind a device that has work the host's time costs nothing.
  const double collector_ns = std::min(calls * kCollectorNsPerCall, idle_ns);
  timeline_.trace_.quality.probe_cost_pct =
      std::min(100.0, 100 * (events * kProbeNsPerEvent + collector_ns) / steps_ns);
}

void TimelineBuilder::Summarize() {
  const std::vector<Step>& steps = timeline_.steps_;
  if (timeline_.steady_.empty() && timeline_.why_no_steps_.empty()) {
    timeline_.why_no_steps_ = "none of the " + std::to_string(steps.size()) +
                              " recorded steps is a plain one after warm-up; let the program run longer";
  }
  double total_ns = 0, boundary_ns = 0;
  int boundaries = 0;
  for (const std::uint32_t i : timeline_.undisturbed_) total_ns += static_cast<double>(steps[i].time.length());
  for (const Step& step : steps) {
    if (!step.boundary || step.warmup) continue;
    boundary_ns += static_cast<double>(step.time.length());
    ++boundaries;
  }
  if (timeline_.steady_.empty()) return;
  for (const std::uint32_t i : timeline_.steady_) timeline_.detail_steps_ += steps[i].detail;
  timeline_.mean_step_ms_ = total_ns / static_cast<double>(timeline_.undisturbed_.size()) / 1e6;
  if (boundaries > 0) timeline_.per_epoch_ms_ = boundary_ns / boundaries / 1e6 - timeline_.mean_step_ms_;
}

}  // namespace loopscope
