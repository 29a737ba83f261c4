#include "reports/words/sweep_wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/core/printable.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

std::string End(const std::optional<double>& end) {
  return Known(end) ? fmt::format("{:.2f}", *end) : "open";
}

std::string RatioText(const TargetRatio& ratio) {
  if (!Known(ratio.low) && !Known(ratio.high)) {
    return Known(ratio.estimate) ? fmt::format("{:.2f}x, no interval", *ratio.estimate) : "unknown";
  }
  const std::string estimate = Known(ratio.estimate) ? fmt::format("{:.2f}x ", *ratio.estimate) : "";
  return fmt::format("{}[{}, {}]", estimate, End(ratio.low), End(ratio.high));
}

}  // namespace

std::string SweepHeadline(const SweepFacts& sweep) {
  return Printable(sweep.verdict, 400);
}

std::string CellText(const SweepFacts& sweep, const SweepCell& cell) {
  if (cell.values.empty()) return "the program as it is";
  std::vector<std::string> parts;
  for (std::size_t axis = 0; axis < cell.values.size(); ++axis) {
    parts.push_back(Printable(sweep.axes[axis].key, 40) + "=" + Printable(cell.values[axis], 40));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string CellTimeText(const SweepFacts& sweep, const SweepCell& cell) {
  if (!Known(cell.ms)) return cell.verdict == CellVerdict::kFailed ? "failed" : "–";
  std::string text = HumanMs(*cell.ms) + (sweep.metric == "sample-time" ? "/sample" : "/step");
  if (Known(cell.samples_per_s)) text += fmt::format(", {}/s", HumanCount(*cell.samples_per_s));
  return text;
}

std::string CellRatioText(const SweepCell& cell) {
  return Known(cell.ratio) ? HumanSpeedup(*cell.ratio, cell.ci95) : "";
}

std::string CellNoteText(const SweepCell& cell) {
  std::vector<std::string> notes;
  if (cell.verdict == CellVerdict::kNotApplicable) {
    notes.emplace_back("not applicable");
  } else if (cell.verdict == CellVerdict::kLeftOut) {
    notes.emplace_back("left out");
  } else if (cell.verdict != CellVerdict::kMeasured) {
    notes.emplace_back(CellVerdictName(cell.verdict));
  }
  if (!cell.reason.empty()) notes.push_back(Printable(cell.reason, 300));
  if (cell.own && !cell.values.empty()) notes.emplace_back("the program's own");
  if (Known(cell.published_s)) notes.push_back(fmt::format("published {:.2f} s", *cell.published_s));
  return fmt::format("{}", fmt::join(notes, ": "));
}

std::string SweepComparisonText(const SweepFacts& sweep, const SweepComparison& one) {
  std::string text(TrialVerdictName(one.verdict));
  if (Known(one.speedup)) {
    text = fmt::format("{}, 95% CI, n={}: ", HumanSpeedup(*one.speedup, one.ci95), one.n) + text;
  }
  if (Known(one.p_holm)) text += fmt::format(" (Holm p={}, {})", HumanP(*one.p_holm), one.method);
  if (!one.reason.empty()) text += ": " + Printable(one.reason, 200);
  return "over " + CellText(sweep, sweep.cells[one.cell]) + " " + text;
}

std::string TargetHeadline(const TargetFacts& facts) {
  return fmt::format("{}, read from {}, within {}", Printable(TargetText(facts.target), 200),
                     facts.source == "marks" ? "the program's marks" : "its output", HumanMs(1e3 * facts.limit_s));
}

std::string TargetArmText(const TargetArm& arm) {
  std::string text = fmt::format("{} of {} reached it", arm.reached, arm.runs.size());
  if (!Known(arm.median_s)) return text + "; no median: half of them or more are censored";
  text += "; median " + HumanMs(1e3 * *arm.median_s);
  if (Known(arm.median_steps)) text += fmt::format(", {:.0f} steps", *arm.median_steps);
  if (Known(arm.median_samples)) text += fmt::format(", {} samples", HumanCount(*arm.median_samples));
  return text;
}

std::string TargetComparisonText(const TargetComparison& one) {
  return fmt::format("in time {}, in steps {}, 95% CI, {} seeds", RatioText(one.seconds), RatioText(one.steps), one.n);
}

}  // namespace loopscope
