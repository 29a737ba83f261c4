#include "profiler/core/launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/settling.h"
#include "profiler/core/statistics.h"

namespace loopscope {
namespace {

constexpr double kNsPerMs = 1e6;

struct Window {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
};

// The marks of the process that leads: the first that trained (ranks are joined in their order, and each has losses and
// a window of its own).
class LeadingProcess {
 public:
  explicit LeadingProcess(const Trace& trace) : trace_(trace) {
    const std::uint32_t pid = LeadingPid(trace);
    const auto own = [&](const Mark& mark) {
      return mark.thread >= trace.threads.size() || trace.threads[mark.thread].pid == pid;
    };
    std::ranges::copy_if(trace.marks, std::back_inserter(marks), own);
  }

  std::vector<Mark> marks;
  std::string_view text(StringId name) const { return trace_.text(name); }

 private:
  static std::uint32_t LeadingPid(const Trace& trace) {
    std::vector<std::uint64_t> steps(trace.threads.size());
    for (const Mark& mark : trace.marks) {
      if (mark.kind == MarkKind::kStepEnd && mark.thread < steps.size()) ++steps[mark.thread];
    }
    const auto most = std::ranges::max_element(steps);
    // At the end of a bounded run one rank may be a few steps ahead of another.
    const auto first =
        std::ranges::find_if(steps, [&](std::uint64_t count) { return count > 0 && 2 * count >= *most; });
    return first == steps.end() ? 0 : trace.threads[static_cast<std::size_t>(first - steps.begin())].pid;
  }

  const Trace& trace_;
};

const Mark* FirstMark(const LeadingProcess& trace, MarkKind kind) {
  const auto found = std::ranges::find(trace.marks, kind, &Mark::kind);
  return found == trace.marks.end() ? nullptr : &*found;
}

std::optional<Window> WindowOf(const LeadingProcess& trace) {
  const Mark* begin = FirstMark(trace, MarkKind::kMeasureBegin);
  const Mark* end = FirstMark(trace, MarkKind::kMeasureEnd);
  if (!begin || !end || end->time_ns <= begin->time_ns) return std::nullopt;
  return Window{begin->time_ns, end->time_ns, begin->thread};
}

// What probes said of themselves tells more than "no steps".
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

std::vector<const Mark*> StepEnds(const LeadingProcess& trace, const Window& window) {
  std::vector<const Mark*> ends;
  for (const Mark& mark : trace.marks) {
    const bool inside = mark.time_ns > window.begin_ns && mark.time_ns <= window.end_ns;
    if (inside && mark.kind == MarkKind::kStepEnd && mark.thread == window.thread) ends.push_back(&mark);
  }
  return ends;
}

std::vector<std::int64_t> BoundaryTimes(const LeadingProcess& trace) {
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

// From the first third to the last, as the logarithm of the ratio; 0 of fewer than six steps.
double Drift(const std::vector<double>& steps) {
  const std::span<const double> lengths(steps);
  const std::size_t third = lengths.size() / 3;
  if (third < 2) return 0;
  const double first = Mean(lengths.first(third)), last = Mean(lengths.last(third));
  return first > 0 && last > 0 ? std::log(last / first) : 0;
}

// The steps partition the window: the last one ends where the window closes, after the device was waited for.
void MeasureSteps(const LeadingProcess& trace, const Window& window, LaunchResult& result) {
  const std::vector<const Mark*> ends = StepEnds(trace, window);
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  StepSum plain, boundary;
  std::vector<double> plain_ns;
  std::int64_t start = window.begin_ns;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t end = i + 1 == ends.size() ? window.end_ns : ends[i]->time_ns;
    const auto next = std::ranges::upper_bound(boundaries, start);
    const bool at_boundary = next != boundaries.end() && *next <= end;
    (at_boundary ? boundary : plain).Add(static_cast<double>(end - start), ends[i]->value);
    if (!at_boundary) plain_ns.push_back(static_cast<double>(end - start));
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

// From the first step on, warm-up included; steps at epoch boundaries left out.
int Settled(const LeadingProcess& trace, const Window& window) {
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

std::uint32_t ArmOf(std::string_view name) {
  std::uint32_t bits = 0;
  for (const char letter : name) {
    if (letter >= 'a' && letter <= 'z') bits |= 1u << (letter - 'a');
  }
  return bits;
}

// From one switch to the next; what changed in between is written at the end.
std::vector<LiveBlock> LiveBlocks(const LeadingProcess& trace, const Window& window) {
  const std::vector<const Mark*> ends =
      StepEnds(trace, {.begin_ns = 0, .end_ns = window.end_ns, .thread = window.thread});
  const std::vector<std::int64_t> boundaries = BoundaryTimes(trace);
  std::vector<const Mark*> switches;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kSwitch) switches.push_back(&mark);
  }
  std::vector<LiveBlock> blocks;
  for (std::size_t s = 0; s + 1 < switches.size(); ++s) {
    LiveBlock block{.on = ArmOf(trace.text(switches[s]->name)),
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

void AddTargetFacts(const Trace& trace, const Target& target, std::int64_t start_ns, const TargetByOutput& by_output,
                    LaunchResult& result) {
  const LeadingProcess leading(trace);
  result.target_s = by_output.reached_s;
  result.best_metric = by_output.best;
  for (const Mark& mark : leading.marks) {
    if (by_output.told || mark.kind != MarkKind::kMetric || leading.text(mark.name) != target.metric) continue;
    const auto value = std::bit_cast<double>(mark.value);
    if (!std::isfinite(value) || result.target_s) continue;
    const bool better =
        !result.best_metric || (target.at_least ? value > *result.best_metric : value < *result.best_metric);
    if (better) result.best_metric = value;
    const bool there = target.at_least ? value >= target.value : value <= target.value;
    if (there) result.target_s = static_cast<double>(mark.time_ns - start_ns) / 1e9;
  }
  result.steps_seen = result.samples_seen = 0;
  bool samples_known = true;
  for (const Mark& mark : leading.marks) {
    const double at_s = static_cast<double>(mark.time_ns - start_ns) / 1e9;
    if (mark.kind != MarkKind::kStepEnd || (result.target_s && at_s > *result.target_s)) continue;
    ++result.steps_seen;
    samples_known = samples_known && mark.value > 0;
    result.samples_seen += static_cast<double>(mark.value);
  }
  if (!samples_known) result.samples_seen = 0;
}

LaunchResult LaunchFacts(const Trace& trace) {
  LaunchResult result;
  result.applied = trace.applied;
  result.peak_bytes = PeakBytes(trace);
  const LeadingProcess leading(trace);
  ReadSequences(leading, result);
  const std::optional<Window> window = WindowOf(leading);
  if (window) {
    MeasureSteps(leading, *window, result);
    result.settled_after = Settled(leading, *window);
    result.live = LiveBlocks(leading, *window);
    result.startup_s = static_cast<double>(window->begin_ns - trace.marks.front().time_ns) / 1e9;
  }
  if (result.steps == 0) {
    result.status = "no steps";
    result.tail = WhyNoSteps(leading);
  }
  return result;
}

}  // namespace loopscope
