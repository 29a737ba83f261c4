#include "profiler/core/launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/statistics/settling.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/core/trace/leading_process.h"
#include "profiler/core/trace/loader_depth.h"

namespace loopscope {
namespace {

constexpr double kNsPerMs = 1e6;

struct MeasuredSpan {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
};

const Mark* FirstMark(const LeadingProcess& trace, MarkKind kind) {
  const auto found = std::ranges::find(trace.marks, kind, &Mark::kind);
  return found == trace.marks.end() ? nullptr : &*found;
}

std::optional<MeasuredSpan> MeasuredSpanOf(const LeadingProcess& trace) {
  const Mark* begin = FirstMark(trace, MarkKind::kMeasureBegin);
  const Mark* end = FirstMark(trace, MarkKind::kMeasureEnd);
  if (begin == nullptr || end == nullptr || end->time_ns <= begin->time_ns) return std::nullopt;
  return MeasuredSpan{begin->time_ns, end->time_ns, begin->thread};
}

// What the probes reported about themselves is more specific than "no steps".
std::string WhyNoSteps(const LeadingProcess& trace) {
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

std::vector<const Mark*> StepEnds(const LeadingProcess& trace, const MeasuredSpan& window) {
  std::vector<const Mark*> ends;
  for (const Mark& mark : trace.marks) {
    const bool inside = mark.time_ns > window.begin_ns && mark.time_ns <= window.end_ns;
    if (inside && mark.kind == MarkKind::kStepEnd && mark.thread == window.thread) ends.push_back(&mark);
  }
  return ends;
}

std::vector<std::int64_t> TimesOf(const LeadingProcess& trace, std::initializer_list<MarkKind> kinds) {
  std::vector<std::int64_t> times;
  for (const Mark& mark : trace.marks) {
    if (std::ranges::find(kinds, mark.kind) != kinds.end()) times.push_back(mark.time_ns);
  }
  return times;
}

std::vector<std::int64_t> BoundaryTimes(const LeadingProcess& trace) {
  return TimesOf(trace, {MarkKind::kEpochEnd, MarkKind::kEpochStart});
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

// The log of the ratio of the last third to the first; 0 for fewer than six steps.
double Drift(const std::vector<double>& steps) {
  const std::span<const double> lengths(steps);
  const std::size_t third = lengths.size() / 3;
  if (third < 2) return 0;
  const double first = Mean(lengths.first(third)), last = Mean(lengths.last(third));
  return first > 0 && last > 0 ? std::log(last / first) : 0;
}

// When the dataloader of the epoch that begins within a step was started; `start_ns` if none begins.
std::int64_t LoaderStart(const std::vector<std::int64_t>& epochs, std::int64_t start_ns, std::int64_t end_ns) {
  const auto after = std::ranges::upper_bound(epochs, end_ns);
  return after == epochs.begin() ? start_ns : std::max(start_ns, *std::prev(after));
}

// The steps partition the window: the last one ends where the window closes, after a device sync. With whole epochs,
// the first step counts from its dataloader's start: batches prefetched there save the other steps their wait. Time
// before that (an evaluation, workers shutting down) belongs to the boundary alone.
void MeasureSteps(const LeadingProcess& trace, const MeasuredSpan& window, bool whole_epochs, LaunchResult& result) {
  const std::vector<const Mark*> ends = StepEnds(trace, window);
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  const std::vector<std::int64_t> epochs = TimesOf(trace, {MarkKind::kEpochStart});
  StepSum plain, boundary;
  std::vector<double> plain_ns;
  std::int64_t start = window.begin_ns;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t end = i + 1 == ends.size() ? window.end_ns : ends[i]->time_ns;
    const auto next = std::ranges::upper_bound(boundaries, start);
    const bool at_boundary = next != boundaries.end() && *next <= end;
    (at_boundary ? boundary : plain).Add(static_cast<double>(end - start), ends[i]->value);
    if (!at_boundary) plain_ns.push_back(static_cast<double>(end - start));
    const std::int64_t loader_start = LoaderStart(epochs, start, end);
    if (whole_epochs && at_boundary && loader_start > start) {
      plain.Add(static_cast<double>(end - loader_start), ends[i]->value);
    }
    start = end;
  }
  // A program whose every step is an epoch has no plain step: then the boundary is part of the step.
  const StepSum& sum = plain.steps > 0 ? plain : boundary;
  result.steps = sum.steps;
  if (sum.steps == 0) return;
  result.clock = trace.text(ends.back()->name);
  result.ms_per_step = sum.mean_ms();
  if (sum.samples_known) result.ms_per_sample = sum.ns / kNsPerMs / static_cast<double>(sum.samples);
  result.step_drift = Drift(plain_ns);
  if (plain.steps > 0 && boundary.steps > 0) result.epoch_ms = boundary.mean_ms() - plain.mean_ms();
}

int StepsPerEpoch(const LeadingProcess& trace, const MeasuredSpan& window) {
  const std::vector<const Mark*> ends =
      StepEnds(trace, {.begin_ns = 0, .end_ns = window.end_ns, .thread = window.thread});
  const auto until = [&](std::int64_t time_ns) {
    return std::ranges::upper_bound(ends, time_ns, {}, &Mark::time_ns) - ends.begin();
  };
  const std::vector<std::int64_t> epochs = TimesOf(trace, {MarkKind::kEpochStart});
  int steps = 0;
  for (std::size_t i = 0; i + 1 < epochs.size(); ++i) {
    if (const auto within = until(epochs[i + 1]) - until(epochs[i]); within > 0) steps = static_cast<int>(within);
  }
  return steps;
}

// From the first step on, warm-up included; steps at epoch boundaries left out.
int Settled(const LeadingProcess& trace, const MeasuredSpan& window) {
  const std::vector<const Mark*> ends =
      StepEnds(trace, {.begin_ns = 0, .end_ns = window.end_ns, .thread = window.thread});
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  std::vector<double> lengths;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const auto next = std::ranges::upper_bound(boundaries, ends[i - 1]->time_ns);
    if (next != boundaries.end() && *next <= ends[i]->time_ns) continue;
    lengths.push_back(static_cast<double>(ends[i]->time_ns - ends[i - 1]->time_ns));
  }
  return SettledAfter(lengths);
}

std::uint32_t ArmNumber(std::string_view name) {
  std::uint32_t bits = 0;
  for (const char letter : name) {
    if (letter >= 'a' && letter <= 'z') bits |= 1u << (letter - 'a');
  }
  return bits;
}

// Blocks run from one switch to the next; the mark at a block's end records what acted in it.
std::vector<LiveBlock> LiveBlocks(const LeadingProcess& trace, const MeasuredSpan& window) {
  const std::vector<const Mark*> ends =
      StepEnds(trace, {.begin_ns = 0, .end_ns = window.end_ns, .thread = window.thread});
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  std::vector<const Mark*> switches;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kSwitch) switches.push_back(&mark);
  }
  std::vector<LiveBlock> blocks;
  for (std::size_t s = 0; s + 1 < switches.size(); ++s) {
    LiveBlock block{.on = ArmNumber(trace.text(switches[s]->name)),
                    .acted = static_cast<std::uint32_t>(switches[s + 1]->value),
                    .step_ms = {}};
    for (std::size_t i = 1; i < ends.size(); ++i) {
      if (ends[i]->time_ns <= switches[s]->time_ns || ends[i]->time_ns > switches[s + 1]->time_ns) continue;
      const auto next = std::ranges::upper_bound(boundaries, ends[i - 1]->time_ns);
      const bool plain = next == boundaries.end() || *next > ends[i]->time_ns;
      block.step_ms.push_back(plain ? static_cast<double>(ends[i]->time_ns - ends[i - 1]->time_ns) / kNsPerMs : 0);
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// With devices, device memory is what runs out: the fullest device counts; otherwise the fullest process.
double PeakBytes(const Trace& trace) {
  double host = 0, device = 0;
  for (const Mark& mark : trace.marks) {
    if (mark.kind != MarkKind::kPeakBytes) continue;
    double& peak = trace.text(mark.name) == "host" ? host : device;
    peak = std::max(peak, static_cast<double>(mark.value));
  }
  return device > 0 ? device : host;
}

void ReadSequences(const LeadingProcess& trace, LaunchResult& result) {
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

LaunchResult LaunchFacts(const Trace& trace, bool whole_epochs) {
  LaunchResult result;
  result.run_ahead = LoaderDepthOf(trace).run_ahead();
  result.applied = trace.applied;
  result.peak_bytes = PeakBytes(trace);
  const LeadingProcess leading(trace);
  ReadSequences(leading, result);
  const std::optional<MeasuredSpan> window = MeasuredSpanOf(leading);
  if (window) {
    MeasureSteps(leading, *window, whole_epochs, result);
    result.steps_per_epoch = StepsPerEpoch(leading, *window);
    result.settled_after = Settled(leading, *window);
    result.live = LiveBlocks(leading, *window);
    result.startup_s = static_cast<double>(window->begin_ns - trace.marks.front().time_ns) / 1e9;
  }
  if (result.steps == 0) {
    result.status = {LaunchEnd::kNoSteps};
    result.tail = WhyNoSteps(leading);
  }
  return result;
}

}  // namespace loopscope
