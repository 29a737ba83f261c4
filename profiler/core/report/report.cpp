#include "profiler/core/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loopscope {
namespace {

// The smallest value that at least `share` of the sorted values do not exceed (nearest rank).
double Percentile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

// Over the steady steps; absent unless the sample count of every one is known.
std::optional<double> SamplesPerSecond(const Timeline& timeline) {
  double samples = 0, seconds = 0;
  for (const std::uint32_t index : timeline.steady()) {
    const Step& step = timeline.steps()[index];
    if (step.samples == 0) return std::nullopt;
    samples += static_cast<double>(step.samples);
    seconds += static_cast<double>(step.time.length()) / 1e9;
  }
  if (seconds <= 0) return std::nullopt;
  return samples / seconds;
}

StepFacts StepFactsOf(const Timeline& timeline) {
  StepFacts facts;
  facts.warmup = static_cast<int>(std::ranges::count_if(timeline.steps(), &Step::warmup));
  facts.measured = static_cast<int>(timeline.steady().size());
  facts.without_operators = static_cast<int>(timeline.timed().size() - timeline.steady().size());
  if (timeline.per_epoch_ms() >= 0) facts.per_epoch_ms = timeline.per_epoch_ms();
  if (timeline.steady().empty()) return facts;
  std::vector<double> lengths_ms;
  for (const std::uint32_t index : timeline.steady()) {
    lengths_ms.push_back(static_cast<double>(timeline.steps()[index].time.length()) / 1e6);
  }
  std::ranges::sort(lengths_ms);
  facts.mean_ms = timeline.mean_step_ms();
  facts.p50_ms = Percentile(lengths_ms, 0.50);
  facts.p95_ms = Percentile(lengths_ms, 0.95);
  facts.samples_per_s = SamplesPerSecond(timeline);
  return facts;
}

void WarnOfDevices(const Timeline& timeline, Report& report) {
  const DeviceCoverage& coverage = timeline.device_coverage();
  if (coverage.used && !coverage.why_not.empty()) report.quality.warnings.push_back(coverage.why_not);
  if (!coverage.why_no_causes.empty()) report.quality.warnings.push_back(coverage.why_no_causes);
  if (report.gpu && report.gpu->steps == 0) {
    report.quality.warnings.push_back(
        "GPU figures cover the whole trace: there is no steady step to take a window from");
  }
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

Report ReportOf(std::shared_ptr<const Timeline> timeline) {
  Report report;
  report.run = timeline->trace().run;
  report.quality = timeline->trace().quality;
  report.steps = StepFactsOf(*timeline);
  if (timeline->steady().empty()) {
    const std::string& why = timeline->why_no_steps();
    const std::string_view advice =
        report.run.source == "kineto" ? " (call profiler.step() after each training step, and record ten of them)" : "";
    report.quality.warnings.push_back(
        fmt::format("no step could be measured{}{}", why.empty() ? "" : ": " + why, advice));
  } else {
    for (int part = 0; part < kParts; ++part) report.breakdown_ms[part] = timeline->part_ms(static_cast<Part>(part));
    if (!timeline->loader_known()) report.breakdown_ms[static_cast<int>(Part::kLoaderWait)].reset();
  }
  report.gpu = GpuFactsOf(*timeline);
  WarnOfDevices(*timeline, report);
  report.timeline = std::move(timeline);
  return report;
}

}  // namespace loopscope
