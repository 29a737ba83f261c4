// The figures of an average step and of the whole run in a report, from the timeline.
#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/statistics/series.h"

namespace loopscope {
namespace {

constexpr double kLeastTrendPct = 10;  // over the window: smaller trends are ignored

// The smallest value that at least `share` of the sorted values do not exceed (nearest rank).
double Percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<double> LengthsMs(const Timeline& timeline) {
  std::vector<double> lengths;
  for (const std::uint32_t index : timeline.undisturbed()) {
    lengths.push_back(static_cast<double>(timeline.steps()[index].time.length()) / 1e6);
  }
  return lengths;
}

// Absent unless the sample count of every step is known.
std::optional<double> SamplesPerSecond(const Timeline& timeline) {
  double samples = 0, seconds = 0;
  for (const std::uint32_t index : timeline.undisturbed()) {
    const Step& step = timeline.steps()[index];
    if (step.samples == 0) return std::nullopt;
    samples += static_cast<double>(step.samples);
    seconds += static_cast<double>(step.time.length()) / 1e9;
  }
  if (seconds <= 0) return std::nullopt;
  return samples / seconds;
}

ClockSource SourceOf(std::string_view clock, std::string_view format) {
  if (clock.starts_with("optimizer:")) return ClockSource::kOptimizer;
  if (clock == "backward" || clock == "gradient") return ClockSource::kBackward;
  return format == "capture" ? ClockSource::kMark : ClockSource::kTrace;
}

ClockFacts ClockOf(const Timeline& timeline) {
  ClockFacts clock;
  clock.ends_with = timeline.clock();
  clock.found_by = SourceOf(clock.ends_with, timeline.trace().run.source);
  clock.guessed = clock.found_by == ClockSource::kBackward;
  double batches = 0, backwards = 0, optimizer_calls = 0;
  for (const std::uint32_t index : timeline.steady()) {
    timeline.ForEach(timeline.training_thread(), timeline.steps()[index].time, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      batches += event.is_range(RangeCategory::kLoader) && event.value > 0;
      backwards += event.is_range(RangeCategory::kBackward) && !timeline.inside(ref, RangeCategory::kBackward);
      optimizer_calls += event.is_range(RangeCategory::kOptimizer) && !timeline.inside(ref, RangeCategory::kOptimizer);
    });
  }
  const auto steps = static_cast<double>(timeline.steady().size());
  if (batches > 0) clock.batches = batches / steps;
  if (backwards > 0) clock.backwards = backwards / steps;
  if (optimizer_calls > 0) clock.optimizer_calls = optimizer_calls / steps;
  return clock;
}

void AddTransient(const Timeline& timeline, StepFacts& facts) {
  double total_ns = 0;
  for (const Step& step : timeline.steps()) {
    if (!step.transient) continue;
    ++facts.transient;
    total_ns += static_cast<double>(step.time.length());
  }
  if (facts.transient > 0) facts.transient_mean_ms = total_ns / facts.transient / 1e6;
}

}  // namespace

std::string_view ClockSourceName(ClockSource source) {
  switch (source) {
    case ClockSource::kMark:
      return "mark";
    case ClockSource::kOptimizer:
      return "optimizer";
    case ClockSource::kBackward:
      return "backward";
    case ClockSource::kTrace:
      return "trace";
  }
  return "trace";
}

StepFacts StepFactsOf(const Timeline& timeline) {
  StepFacts facts;
  facts.warmup = static_cast<int>(std::ranges::count_if(timeline.steps(), &Step::warmup));
  // Counts all of them, slowed down or not, settled or not.
  const auto count = [&](bool operators) {
    return static_cast<int>(std::ranges::count_if(timeline.steps(), [&](const Step& step) {
      return step.kind() >= StepKind::kTransient && step.operators == operators;
    }));
  };
  facts.measured = count(true);
  facts.without_operators = count(false);
  facts.in_mean = static_cast<int>(timeline.undisturbed().size());
  facts.disturbed = static_cast<int>(
      std::ranges::count_if(timeline.steps(), [](const Step& step) { return step.plain() && step.disturbed(); }));
  if (timeline.per_epoch_ms() >= 0) facts.per_epoch_ms = timeline.per_epoch_ms();
  if (timeline.steady().empty()) return facts;
  AddTransient(timeline, facts);
  facts.clock = ClockOf(timeline);
  std::vector<double> lengths_ms = LengthsMs(timeline);
  if (const std::optional<Trend> trend = FindTrend(lengths_ms);
      trend && std::abs(trend->change_pct) >= kLeastTrendPct) {
    facts.trend_pct = trend->change_pct;
  }
  std::ranges::sort(lengths_ms);
  facts.mean_ms = timeline.mean_step_ms();
  facts.p50_ms = Percentile(lengths_ms, 0.50);
  facts.p95_ms = Percentile(lengths_ms, 0.95);
  facts.samples_per_s = SamplesPerSecond(timeline);
  return facts;
}

std::optional<WholeFacts> WholeFactsOf(const Timeline& timeline) {
  const WholeRun& whole = timeline.whole();
  if (whole.steps == 0) return std::nullopt;
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  WholeFacts facts{ms(whole.start_up_ns), ms(whole.steps_ns), ms(whole.epoch_starts_ns), ms(whole.evaluation_ns),
                   ms(whole.other_ns)};
  facts.steps = whole.steps;
  facts.epoch_starts = static_cast<int>(whole.epoch_starts.size());
  facts.evaluations = static_cast<int>(whole.evaluations.size());
  return facts;
}

}  // namespace loopscope
