#include "profiler/core/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/report/run_end.h"

namespace loopscope {
namespace {

void WarnOfDevices(const Timeline& timeline, Report& report) {
  const DeviceCoverage& coverage = timeline.device_coverage();
  if (coverage.used && !coverage.why_not.empty()) report.quality.warnings.push_back(coverage.why_not);
  if (!coverage.why_no_causes.empty()) report.quality.warnings.push_back(coverage.why_no_causes);
  if (report.gpu && report.gpu->steps == 0) {
    report.quality.warnings.push_back(
        "GPU figures cover the whole trace: there is no steady step to take a window from");
  }
}

void WarnOfEnd(const Timeline& timeline, Report& report) {
  const std::string how = HowItEnded(report.run.exit_status);
  if (how.empty()) return;
  const std::size_t steps = timeline.steps().size();
  report.quality.warnings.push_back(
      steps == 0 ? fmt::format("the program {} before its first step", how)
                 : fmt::format("the program {} after {} {}", how, steps, steps == 1 ? "step" : "steps"));
}

}  // namespace

Report ReportOf(std::shared_ptr<const Timeline> timeline) {
  Report report;
  report.run = timeline->trace().run;
  report.quality = timeline->trace().quality;
  report.steps = StepFactsOf(*timeline);
  report.whole = WholeFactsOf(*timeline);
  WarnOfEnd(*timeline, report);
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
  report.lines = LineRowsOf(*timeline);
  report.whole_lines = WholeLineRowsOf(*timeline);
  report.worker_lines = WorkerLineRowsOf(*timeline);
  report.collectives = CollectiveRowsOf(*timeline);
  report.gpu = GpuFactsOf(*timeline);
  report.headroom = HeadroomOf(*timeline);
  WarnOfDevices(*timeline, report);
  report.timeline = std::move(timeline);
  return report;
}

}  // namespace loopscope
