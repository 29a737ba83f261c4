#include "reports/words/experiment_wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostReason = 400;

std::string_view VerdictWord(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kPass:
      return "PASS";
    case GateVerdict::kFail:
      return "FAIL";
    case GateVerdict::kInconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

std::string EvidenceText(double value) {
  return value >= 1000 ? "over 1000" : fmt::format("{:.3g}", value);
}

std::string Count(const std::optional<double>& value) {
  return Known(value) ? fmt::format("{:.4g}", *value) : "none";
}

}  // namespace

std::string GateText(const GateRow& row) {
  const std::string reason = Printable(row.reason, kMostReason);
  return std::string(VerdictWord(row.verdict)) + (reason.empty() ? "" : ": " + reason);
}

std::string GateHeadline(const GateFacts& gate) {
  const std::string worst = GateText(DecidingRow(gate));
  if (gate.workloads.size() == 1) return worst;
  const auto passed = std::ranges::count(gate.workloads, GateVerdict::kPass, &GateRow::verdict);
  return fmt::format("{} ({} of {} workloads passed)", worst, passed, gate.workloads.size());
}

std::string GateTimeText(const GateRow& row) {
  if (!row.time) return "not measured: " + Printable(row.why_no_time, kMostReason);
  const GateDecision& time = *row.time;
  std::string text = fmt::format("{} pair{}", time.pairs, time.pairs == 1 ? "" : "s");
  if (time.pairs > 1) {
    text += fmt::format(", {} noise", HumanPct(100 * time.pair_sd));
    if (time.detectable > 0)
      text += fmt::format(": 4 of 5 gates find a slowdown of {}", HumanPct(100 * time.detectable));
  }
  if (!time.evidence.empty() && time.fails_from > 0) {
    text += fmt::format(
        "; evidence that it is slower {} (fails from {:.0f}), that it is under the limit {} (passes from {:.0f})",
        EvidenceText(time.evidence.back().slower), time.fails_from, EvidenceText(time.evidence.back().under_limit),
        time.passes_from);
  }
  return text;
}

std::string GateCountersText(const GateRow& row) {
  if (!row.why_no_counters.empty()) return "not compared: " + Printable(row.why_no_counters, kMostReason);
  const auto failing = std::ranges::count(row.counters, true, &CounterRow::fails);
  const auto ignored = std::ranges::count(row.counters, "ignored", &CounterRow::change);
  const auto others = static_cast<std::ptrdiff_t>(row.counters.size()) - failing - ignored;
  std::string text = fmt::format("{} compared, ", row.counters_compared);
  text +=
      row.counters_compared > 0 && failing + others == 0 ? "all the same" : fmt::format("{} changed", failing + others);
  if (failing > 0) text += fmt::format(", {} of them not allowed", failing);
  return ignored > 0 ? text + fmt::format("; {} ignored, since {} from run to run", ignored,
                                          ignored == 1 ? "it varies" : "they vary")
                     : text;
}

std::string CounterText(const CounterRow& counter) {
  std::string text = Printable(counter.name, 120);
  if (Known(counter.before) || Known(counter.after)) {
    text += fmt::format(": {} -> {} per step", Count(counter.before), Count(counter.after));
  } else if (!counter.change.empty()) {
    text += ": " + Printable(counter.change, 20);
  }
  return counter.reason.empty() ? text : text + ": " + Printable(counter.reason, 300);
}

std::string CounterPlaceText(const CounterPlace& at) {
  return fmt::format("{}: {:.4g} -> {:.4g} per step", PlaceText(at.where, ""), at.before, at.after);
}

std::string GrownText(const GrownTime& grown) {
  std::string text(GrownKindName(grown.kind));
  if (grown.where) text += " " + PlaceText(*grown.where, "");
  if (!grown.name.empty()) text += (grown.where ? ": " : " ") + Printable(grown.name, 120);
  text += fmt::format(": {} -> {} per step", HumanMs(grown.before_ms), HumanMs(grown.after_ms));
  return grown.touched ? text + ", a line that the other side does not have" : text;
}

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
