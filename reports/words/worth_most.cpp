#include "reports/words/worth_most.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "profiler/core/printable.h"
#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/headline.h"
#include "profiler/core/report/unexplained.h"
#include "reports/words/cost_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMost = 3;

// ", loop.cpp:120 in TrainEpoch"; empty when no place is known.
std::string BehindComma(const Finding& finding, const Report& report) {
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  if (placed == finding.evidence.end()) return "";
  return ", " + PlaceText(*placed, report.run.working_directory);
}

// Each treatment that helped, once: with the others where that was measured, else alone; largest gain first.
std::vector<const TrialRow*> Gains(const Report& report) {
  std::vector<const TrialRow*> gains;
  for (const TrialRow& trial : report.trials) {
    if (trial.verdict != TrialVerdict::kFaster || !Known(trial.speedup)) continue;
    const auto same =
        std::ranges::find_if(gains, [&](const TrialRow* one) { return one->treatment == trial.treatment; });
    if (same == gains.end()) {
      gains.push_back(&trial);
    } else if (trial.context == "with-others") {
      *same = &trial;
    }
  }
  std::ranges::stable_sort(gains, std::greater(), [](const TrialRow* trial) { return *trial->speedup; });
  return gains;
}

std::string GainLine(const TrialRow& trial, const Report& report) {
  const std::string gain = fmt::format("{} by {}", HumanSpeedup(*trial.speedup, trial.ci95),
                                       Printable(TreatmentText(trial.treatment, trial.value), 80));
  for (const std::string& rule : trial.rules) {
    const auto found = std::ranges::find(report.findings, rule, &Finding::rule);
    if (found != report.findings.end()) return gain + BehindComma(*found, report);
  }
  return gain;
}

std::vector<const Finding*> Costly(const Report& report) {
  std::vector<const Finding*> costly;
  const Finding* const led = HeadlineOf(report).finding;
  for (const Finding& finding : report.findings) {
    const bool costs = finding.worth_ms() > 0 && std::isfinite(finding.worth_ms());
    const bool counts = costs && finding.severity > Severity::kInfo;  // as in the headline
    if (counts && &finding != led && !Refuted(report, finding)) costly.push_back(&finding);
  }
  std::ranges::stable_sort(costly, [](const Finding* one, const Finding* other) { return GainsMore(*one, *other); });
  return costly;
}

std::string CostLine(const Finding& finding, const Report& report) {
  return fmt::format("{} of a step{}: {}{}", WorthShareText(report, finding),
                     finding.per_epoch ? ", outside of plain ones" : "", Printable(finding.title, 160),
                     BehindComma(finding, report));
}

}  // namespace

std::vector<std::string> LargestGains(const Report& report) {
  std::vector<std::string> lines;
  for (const TrialRow* trial : Gains(report)) {
    if (lines.size() < kMost) lines.push_back(GainLine(*trial, report));
  }
  return lines;
}

std::vector<std::string> CostliestFindings(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding* finding : Costly(report)) {
    if (lines.size() + 1 < kMost) lines.push_back(CostLine(*finding, report));
  }
  return lines;
}

}  // namespace loopscope
