#include "profiler/core/report/headline.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/unexplained.h"

namespace loopscope {
namespace {

constexpr double kMinPct = 5;             // of the step or the run: smaller causes do not lead the report
constexpr double kMinPctOfPlace = 15;     // for a place that no rule explains, if most of the step computes
constexpr double kMinPctOverFact = 20;    // if no finding can reach this, memory that fills up comes first
constexpr double kMinEvaluationPct = 25;  // evaluations are intended: only report large ones
constexpr double kMinSpreadPct = 20, kFewOfSpread = 0.3;
constexpr double kMinComputePct = 50;
constexpr double kMinCallsPct = 50;  // of the step
constexpr double kMinBusyPct = 90;   // from this share on, the GPU limits the step
constexpr double kAllOfIt = 0.9;     // of a finding's cost: from here on its place has all of it

bool Usable(const std::optional<double>& mean_ms) {
  return mean_ms && std::isfinite(*mean_ms) && *mean_ms > 0;
}

// Makes ms within and outside of steps comparable, as shares of the run without its start-up. Otherwise use one step
// plus the largest per-epoch cost.
class Scale {
 public:
  explicit Scale(const Report& report) : mean_ms_(*report.steps.mean_ms) {
    double outside_ms = 0;
    for (const Finding& finding : report.findings) {
      if (finding.per_epoch) outside_ms = std::max(outside_ms, Positive(finding.cost_ms_per_step));
    }
    steps_pct_ = 100 * mean_ms_ / (mean_ms_ + outside_ms);
    per_step_ms_ = mean_ms_ + outside_ms;
    if (!report.whole || !(report.whole->steps_ms > 0) || report.whole->steps <= 0) return;
    run_ms_ = report.whole->total_ms() - report.whole->start_up_ms;
    steps_pct_ = 100 * report.whole->steps_ms / run_ms_;
    per_step_ms_ = run_ms_ / report.whole->steps;
  }

  bool run_known() const { return run_ms_ > 0; }
  double OfStep(double ms) const { return steps_pct_ * std::min(ms / mean_ms_, 1.0); }
  double OfRun(double ms) const { return run_ms_ > 0 ? 100 * ms / run_ms_ : 0; }
  double Of(const Finding& finding) const { return Of(Positive(finding.worth_ms()), finding.per_epoch); }
  double Of(double ms, bool per_epoch) const {
    if (!per_epoch) return OfStep(ms);
    // A run seen for only a few epochs may underrepresent a per-epoch cost.
    return std::min(100 * ms / std::max(per_step_ms_, mean_ms_ + ms), 100.0);
  }

 private:
  double mean_ms_, run_ms_ = 0, steps_pct_ = 100, per_step_ms_ = 0;
};

// A candidate: its size and the expected gain of fixing it, as shares on the common scale.
struct Candidate {
  Headline headline = {};
  double pct = 0, gain_pct = 0;
};

Candidate OfFinding(const Finding& finding, const Report& report, const Scale& scale) {
  Candidate candidate{.pct = scale.Of(finding), .gain_pct = scale.Of(ExpectedGainOf(finding).ms, finding.per_epoch)};
  Headline& headline = candidate.headline;
  headline.kind = HeadlineKind::kFinding;
  headline.finding = &finding;
  headline.ms = Positive(finding.worth_ms());
  headline.of_run = finding.per_epoch;
  if (!finding.per_epoch) headline.ms = std::min(headline.ms, *report.steps.mean_ms);
  headline.share_pct = headline.of_run ? candidate.pct : 100 * headline.ms / *report.steps.mean_ms;
  const auto placed = [](const Evidence& one) { return one.where.has_value(); };
  if (const auto first = std::ranges::find_if(finding.evidence, placed); first != finding.evidence.end()) {
    headline.where = first->where;
    headline.called_at = first->called_at;
    const bool of_several = std::ranges::count_if(finding.evidence, placed) > 1;
    const bool largest =
        std::ranges::all_of(finding.evidence, [&](const Evidence& one) { return one.ms <= first->ms; });
    if (of_several && largest && first->ms < kAllOfIt * finding.cost_ms_per_step) headline.at_ms = first->ms;
  }
  const LineRow line = LineAt(report, headline.where);
  headline.what = line.what;
  headline.library = line.library;
  return candidate;
}

// Whether it slows a step down and no rerun has shown its fix to bring nothing.
bool Rivals(const Report& report, const Finding& finding) {
  return finding.severity != Severity::kInfo && !Refuted(report, finding);
}

Candidate BestFinding(const Report& report, const Scale& scale) {
  Candidate best;
  for (const Finding& finding : report.findings) {
    if (scale.Of(finding) <= 0 || !Rivals(report, finding)) continue;
    const double gain_pct = scale.Of(ExpectedGainOf(finding).ms, finding.per_epoch);
    if (best.headline.finding == nullptr || gain_pct > best.gain_pct) best = OfFinding(finding, report, scale);
  }
  return best;
}

// The largest possible gain of any finding, proven or bounded.
double MostPct(const Report& report, const Scale& scale) {
  double most = 0;
  for (const Finding& finding : report.findings) {
    if (Rivals(report, finding)) most = std::max(most, scale.Of(finding));
  }
  return most;
}

Candidate LargestPlace(const std::vector<UnexplainedPlace>& places, const Report& report, const Scale& scale) {
  if (places.empty()) return {};
  const UnexplainedPlace& largest = places.front();
  const double pct = scale.OfStep(largest.left_ms);
  Candidate candidate{.pct = pct, .gain_pct = pct};
  candidate.headline = {.kind = HeadlineKind::kPlace,
                        .part = largest.row.phase,
                        .where = largest.row.where,
                        .library = largest.row.library,
                        .what = largest.row.what,
                        .ms = largest.phase_ms,
                        .share_pct = std::min(100 * largest.phase_ms / *report.steps.mean_ms, 100.0)};
  return candidate;
}

// Many lines that together have more than twice what the best candidate has.
Candidate Spread(const std::vector<UnexplainedPlace>& places, const Report& report, const Scale& scale) {
  double left_ms = 0, ms = 0;
  for (const UnexplainedPlace& place : places) {
    left_ms += place.left_ms;
    ms += place.row.ms;
  }
  const double pct = scale.OfStep(left_ms);
  if (pct < kMinSpreadPct || places.front().left_ms > kFewOfSpread * left_ms) return {};
  Candidate candidate = LargestPlace(places, report, scale);
  candidate.pct = candidate.gain_pct = pct;
  candidate.headline.kind = HeadlineKind::kSpread;
  candidate.headline.at_ms = places.front().row.ms;
  candidate.headline.ms = ms;
  candidate.headline.share_pct = std::min(100 * ms / *report.steps.mean_ms, 100.0);
  candidate.headline.places = static_cast<int>(places.size());
  return candidate;
}

Candidate LargestWholePart(const Report& report, const Scale& scale) {
  Candidate largest;
  for (const UnexplainedPart& part : UnexplainedParts(report)) {
    const double pct = scale.OfRun(part.left_ms);
    if (pct < (part.name == "evaluation" ? kMinEvaluationPct : kMinPct) || pct <= largest.pct) continue;
    largest.pct = largest.gain_pct = pct;
    largest.headline = {.kind = HeadlineKind::kWholePart,
                        .part = std::string(part.name),
                        .of_run = true,
                        .ms = part.ms,
                        .share_pct = scale.OfRun(part.ms),
                        .occurrence_ms = part.occurrences > 0 ? part.ms / part.occurrences : 0};
    const LineRow line = LargestLine(report.whole_lines, part.name);
    largest.headline.where = line.where;
    largest.headline.library = line.library;
    largest.headline.what = line.what;
    largest.headline.at_ms = line.ms;
  }
  return largest;
}

// A fact without a cost that deserves the first sentence where nothing costs time.
const Finding* GraveFact(const Report& report) {
  for (const Finding& finding : report.findings) {
    if (finding.severity >= Severity::kMedium && Positive(finding.worth_ms()) == 0) return &finding;
  }
  return nullptr;
}

// Most of the step is calls of operators, whatever they compute.
const Finding* Calls(const Report& report) {
  const auto found = std::ranges::find_if(report.findings, [](const Finding& finding) {
    return finding.ClaimOf(Time::kCalls) != nullptr && finding.severity == Severity::kInfo &&
           finding.cost_pct >= kMinCallsPct;
  });
  return found == report.findings.end() ? nullptr : &*found;
}

bool MostRulesCannotTell(const Report& report) {
  const auto unsure = std::ranges::count(report.rules, Verdict::kCannotTell, &RuleRow::verdict);
  const auto aside = std::ranges::count(report.rules, Verdict::kNotApplicable, &RuleRow::verdict);
  return 2 * unsure > std::ssize(report.rules) - aside;
}

bool Computes(double compute_pct) {
  return compute_pct >= kMinComputePct;
}

// The line that computes most: with its backward pass, where operators of both are joined by line.
LineRow LargestComputing(const Report& report) {
  if (!report.headroom || report.headroom->lines.empty()) return LargestComputeLine(report);
  const HeadroomLine& most = *std::ranges::max_element(report.headroom->lines, {}, &HeadroomLine::ms);
  if (!most.where) return LargestComputeLine(report);
  return {.where = most.where, .library = {}, .what = most.what, .phase = {}};
}

// No cause is large: does the loop mostly compute?
Headline WithoutCause(const Report& report, const Scale& scale, const Candidate& finding) {
  if (const Finding* const fact = GraveFact(report)) return OfFinding(*fact, report, scale).headline;
  if (report.gpu && report.gpu->busy_pct.value_or(0) >= kMinBusyPct) {
    return {.kind = HeadlineKind::kHealthy,
            .finding = finding.headline.finding,
            .part = "gpu",
            .ms = *report.gpu->busy_pct / 100 * *report.steps.mean_ms,
            .share_pct = *report.gpu->busy_pct};
  }
  const double compute_pct = ComputePct(report).value_or(0);
  const bool computes = Computes(compute_pct);
  if (!computes && finding.headline.finding != nullptr) return finding.headline;
  if (report.lines.empty() && finding.headline.finding == nullptr && MostRulesCannotTell(report)) {
    return {.kind = HeadlineKind::kUnknown};
  }
  if (!computes) return {};
  const Finding* const calls = Calls(report);
  if (calls != nullptr && finding.headline.finding == nullptr) {
    const auto at = std::ranges::find_if(calls->evidence, [](const Evidence& one) { return one.where.has_value(); });
    return {.kind = HeadlineKind::kCalls,
            .finding = calls,
            .where = at == calls->evidence.end() ? std::nullopt : at->where,
            .ms = calls->cost_ms_per_step,
            .share_pct = calls->cost_pct};
  }
  const LineRow line = LargestComputing(report);
  return {.kind = HeadlineKind::kHealthy,
          .finding = finding.headline.finding,
          .part = line.phase,
          .where = line.where,
          .library = line.library,
          .what = line.what,
          .ms = compute_pct / 100 * *report.steps.mean_ms,
          .share_pct = compute_pct};
}

// A cause that distorts every measurement by an unknown amount is reported first.
const Finding* Distorting(const Report& report) {
  const auto found = std::ranges::find_if(report.findings, [&](const Finding& finding) {
    return finding.cost_is == CostKind::kLeast && finding.severity >= Severity::kMedium && !Refuted(report, finding);
  });
  return found == report.findings.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> ShareOfRunPct(const Report& report, const Finding& finding) {
  if (!Usable(report.steps.mean_ms)) return std::nullopt;
  const Scale scale(report);
  const double pct = scale.Of(Positive(finding.cost_ms_per_step), finding.per_epoch);
  if (!scale.run_known() || pct <= 0) return std::nullopt;
  return pct;
}

Headline HeadlineOf(const Report& report) {
  if (!Usable(report.steps.mean_ms)) {
    const Finding* const fact = GraveFact(report);  // a job that hangs has no steps
    return {.kind = fact != nullptr ? HeadlineKind::kFinding : HeadlineKind::kNoStep, .finding = fact};
  }
  const Scale scale(report);
  if (const Finding* const distorting = Distorting(report)) return OfFinding(*distorting, report, scale).headline;
  const Candidate finding = BestFinding(report, scale);
  const std::vector<UnexplainedPlace> places = UnexplainedPlaces(report);
  const Candidate place = LargestPlace(places, report, scale), whole = LargestWholePart(report, scale);
  const bool place_counts = place.pct >= kMinPctOfPlace || !Computes(ComputePct(report).value_or(0));
  const Candidate* largest = &finding;
  if (place_counts && place.gain_pct > largest->gain_pct) largest = &place;
  if (whole.gain_pct > largest->gain_pct) largest = &whole;
  if (!places.empty()) {
    const Candidate spread = Spread(places, report, scale);
    const bool rival = largest != &place && 2 * largest->pct >= spread.pct;
    if (spread.pct > 0 && !rival) return spread.headline;
  }
  const bool fact_first = GraveFact(report) != nullptr && MostPct(report, scale) < kMinPctOverFact;
  if (largest->pct >= (fact_first ? kMinPctOverFact : kMinPct)) return largest->headline;
  return WithoutCause(report, scale, finding);
}

}  // namespace loopscope
