#include "reports/words/gate_wording.h"

#include <fmt/format.h>

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

}  // namespace loopscope
