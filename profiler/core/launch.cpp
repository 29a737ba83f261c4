#include "profiler/core/launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/statistics/series.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/core/steps/step_table.h"
#include "profiler/core/text.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kNsPerMs = 1e6;

// What the probes reported about themselves is more specific than "no steps".
std::string WhyNoSteps(const Trace& trace, const StepLedger& ledger) {
  std::string why;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kProbeOff && ledger.IsOwn(mark.thread))
      why += std::string(why.empty() ? "" : "; ") + std::string(trace.text(mark.name));
  }
  if (!why.empty()) return why;
  if (ledger.ends().empty()) return "the program ended without a training step";
  return "the program ended after " + Counted(ledger.ends().size(), "step") + ", before the window closed";
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
void MeasureSteps(const StepTable& table, const StepLedger& ledger, const Interval& window, bool whole_epochs,
                  LaunchResult& result) {
  std::vector<const Step*> steps;
  for (const Step& step : table.all()) {
    if (step.time.end_ns > window.start_ns && step.time.end_ns <= window.end_ns) steps.push_back(&step);
  }
  StepSum plain, boundary;
  std::vector<double> plain_ns;
  std::int64_t start_ns = window.start_ns;
  for (const Step* step : steps) {
    const std::int64_t end_ns = step == steps.back() ? window.end_ns : step->time.end_ns;
    (step->boundary ? boundary : plain).Add(static_cast<double>(end_ns - start_ns), step->samples);
    if (!step->boundary) plain_ns.push_back(static_cast<double>(end_ns - start_ns));
    const std::int64_t loader_start_ns = LoaderStart(ledger.epoch_starts(), start_ns, end_ns);
    if (whole_epochs && step->boundary && loader_start_ns > start_ns) {
      plain.Add(static_cast<double>(end_ns - loader_start_ns), step->samples);
    }
    start_ns = end_ns;
  }
  // A program whose every step is an epoch has no plain step: then the boundary is part of the step.
  const StepSum& sum = plain.steps > 0 ? plain : boundary;
  result.steps = sum.steps;
  if (sum.steps == 0) return;
  result.clock = table.clock();
  result.ms_per_step = sum.mean_ms();
  if (sum.samples_known) result.ms_per_sample = sum.ns / kNsPerMs / static_cast<double>(sum.samples);
  result.step_drift = Drift(plain_ns);
  if (plain.steps > 0 && boundary.steps > 0) result.epoch_ms = boundary.mean_ms() - plain.mean_ms();
}

// From the first step on, warm-up included; steps at epoch boundaries left out. What came before the first step's end
// is start-up.
int Settled(const StepTable& table, std::int64_t first_end_ns, std::int64_t closes_ns) {
  std::vector<double> lengths;
  for (const Step& step : table.all()) {
    if (step.boundary || step.time.start_ns < first_end_ns || step.time.end_ns > closes_ns) continue;
    lengths.push_back(static_cast<double>(step.time.length()));
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
std::vector<LiveBlock> LiveBlocks(const Trace& trace, const StepTable& table, const StepLedger& ledger) {
  const std::span<const Mark> switches = ledger.switches();
  std::vector<LiveBlock> blocks;
  for (std::size_t s = 0; s + 1 < switches.size(); ++s) {
    LiveBlock block{.on = ArmNumber(trace.text(switches[s].name)),
                    .acted = static_cast<std::uint32_t>(switches[s + 1].value),
                    .step_ms = {}};
    for (const Step& step : table.all()) {
      if (step.time.end_ns <= switches[s].time_ns || step.time.end_ns > switches[s + 1].time_ns) continue;
      block.step_ms.push_back(step.boundary ? 0 : static_cast<double>(step.time.length()) / kNsPerMs);
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

void ReadSequences(const Trace& trace, const StepLedger& ledger, LaunchResult& result) {
  for (const Mark& mark : trace.marks) {
    if (!ledger.IsOwn(mark.thread)) continue;
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
  const StepLedger ledger(trace);
  ReadSequences(trace, ledger, result);
  const Interval window{ledger.opens_ns().value_or(0), ledger.closes_ns().value_or(0)};
  if (ledger.opens_ns() && ledger.closes_ns() && window.length() > 0 && !ledger.ends().empty()) {
    const std::int64_t first_end_ns = ledger.ends().front().time_ns;
    const StepTable table(trace, ledger, ledger.ends(), std::min(trace.marks.front().time_ns, first_end_ns));
    MeasureSteps(table, ledger, window, whole_epochs, result);
    result.steps_per_epoch = static_cast<int>(table.steps_per_epoch());
    result.settled_after = Settled(table, first_end_ns, window.end_ns);
    result.live = LiveBlocks(trace, table, ledger);
    result.startup_s = static_cast<double>(window.start_ns - trace.marks.front().time_ns) / 1e9;
  }
  if (result.steps == 0) {
    result.status = {LaunchEnd::kNoSteps};
    result.tail = WhyNoSteps(trace, ledger);
  }
  return result;
}

}  // namespace loopscope
