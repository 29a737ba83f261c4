#include "profiler/core/launch.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>

namespace loopscope {
namespace {

constexpr double kNsPerMs = 1e6;

struct Window {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
};

const Mark* FirstMark(const Trace& trace, MarkKind kind) {
  const auto found = std::ranges::find(trace.marks, kind, &Mark::kind);
  return found == trace.marks.end() ? nullptr : &*found;
}

std::optional<Window> WindowOf(const Trace& trace) {
  const Mark* begin = FirstMark(trace, MarkKind::kMeasureBegin);
  const Mark* end = FirstMark(trace, MarkKind::kMeasureEnd);
  if (!begin || !end || end->time_ns <= begin->time_ns) return std::nullopt;
  return Window{begin->time_ns, end->time_ns, begin->thread};
}

// What probes said of themselves tells more than "no steps".
std::string WhyNoSteps(const Trace& trace) {
  std::string why;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kProbeOff)
      why += std::string(why.empty() ? "" : "; ") + std::string(trace.text(mark.name));
  }
  if (!why.empty()) return why;
  const auto steps = std::ranges::count(trace.marks, MarkKind::kStepEnd, &Mark::kind);
  if (steps == 0) return "the program ended without a training step";
  return "the program ended after " + std::to_string(steps) + " steps, before the window closed";
}

std::vector<const Mark*> StepEnds(const Trace& trace, const Window& window) {
  std::vector<const Mark*> ends;
  for (const Mark& mark : trace.marks) {
    const bool inside = mark.time_ns > window.begin_ns && mark.time_ns <= window.end_ns;
    if (inside && mark.kind == MarkKind::kStepEnd && mark.thread == window.thread) ends.push_back(&mark);
  }
  return ends;
}

std::vector<std::int64_t> BoundaryTimes(const Trace& trace) {
  std::vector<std::int64_t> times;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kEpochEnd || mark.kind == MarkKind::kEpochStart) times.push_back(mark.time_ns);
  }
  return times;
}

struct StepSum {
  double ns = 0;
  int steps = 0;
  std::uint64_t samples = 0;
  bool samples_known = true;

  void Add(double length_ns, std::uint64_t step_samples) {
    ns += length_ns;
    ++steps;
    samples += step_samples;
    samples_known = samples_known && step_samples > 0;
  }
  double mean_ms() const { return ns / kNsPerMs / steps; }
};

// The steps partition the window: the last one ends where the window closes, after the device was waited for.
void MeasureSteps(const Trace& trace, const Window& window, LaunchResult& result) {
  const std::vector<const Mark*> ends = StepEnds(trace, window);
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  StepSum plain, boundary;
  std::int64_t start = window.begin_ns;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t end = i + 1 == ends.size() ? window.end_ns : ends[i]->time_ns;
    const auto next = std::ranges::upper_bound(boundaries, start);
    const bool at_boundary = next != boundaries.end() && *next <= end;
    (at_boundary ? boundary : plain).Add(static_cast<double>(end - start), ends[i]->value);
    start = end;
  }
  // A program whose every step is an epoch has no plain step: then the boundary is part of the step.
  const StepSum& sum = plain.steps > 0 ? plain : boundary;
  result.steps = sum.steps;
  if (sum.steps == 0) return;
  result.clock = trace.text(ends.back()->name);
  result.ms_per_step = sum.mean_ms();
  if (sum.samples_known) result.ms_per_sample = sum.ns / kNsPerMs / static_cast<double>(sum.samples);
  if (plain.steps > 0 && boundary.steps > 0) result.epoch_ms = boundary.mean_ms() - plain.mean_ms();
}

// With devices, theirs is the memory that runs out: the fullest one counts; else the fullest process.
double PeakBytes(const Trace& trace) {
  double host = 0, device = 0;
  for (const Mark& mark : trace.marks) {
    if (mark.kind != MarkKind::kPeakBytes) continue;
    double& peak = trace.text(mark.name) == "host" ? host : device;
    peak = std::max(peak, static_cast<double>(mark.value));
  }
  return device > 0 ? device : host;
}

void ReadSequences(const Trace& trace, LaunchResult& result) {
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kLoss) result.losses.push_back(std::bit_cast<double>(mark.value));
    if (mark.kind == MarkKind::kSampleHash) result.sample_hashes.push_back(mark.value);
    if (mark.kind != MarkKind::kMetric) continue;
    const std::string name(trace.text(mark.name));
    std::erase_if(result.metrics, [&](const auto& metric) { return metric.first == name; });
    result.metrics.emplace_back(name, std::bit_cast<double>(mark.value));
  }
}

}  // namespace

LaunchResult LaunchFacts(const Trace& trace) {
  LaunchResult result;
  result.applied = trace.applied;
  result.peak_bytes = PeakBytes(trace);
  ReadSequences(trace, result);
  const std::optional<Window> window = WindowOf(trace);
  if (window) {
    MeasureSteps(trace, *window, result);
    result.startup_s = static_cast<double>(window->begin_ns - trace.marks.front().time_ns) / 1e9;
  }
  if (result.steps == 0) {
    result.status = "no steps";
    result.tail = WhyNoSteps(trace);
  }
  return result;
}

}  // namespace loopscope
