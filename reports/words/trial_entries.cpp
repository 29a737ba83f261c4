#include "reports/words/trial_entries.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

// Prefers a measured trial, then the one with the other fixes.
int Rank(const TrialRow& trial) {
  return (Known(trial.speedup) ? 2 : 0) + (trial.context == "with-others" ? 1 : 0);
}

std::string OtherText(const TrialRow& trial) {
  if (!Known(trial.speedup)) return "";
  return fmt::format("{} {}", trial.context == "with-others" ? "with others" : "alone",
                     HumanSpeedup(*trial.speedup, trial.ci95));
}

}  // namespace

std::vector<TrialEntry> TrialEntries(const Report& report) {
  std::vector<TrialEntry> entries;
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const TrialRow& trial = report.trials[i];
    const auto same = std::ranges::find_if(entries, [&](const TrialEntry& one) {
      const TrialRow& other = report.trials[one.shown];
      return other.treatment == trial.treatment && other.value == trial.value && other.context != trial.context;
    });
    if (same == entries.end()) {
      entries.push_back({i, ""});
    } else if (Rank(trial) > Rank(report.trials[same->shown])) {
      *same = {i, OtherText(report.trials[same->shown])};
    } else {
      same->other = OtherText(trial);
    }
  }
  return entries;
}

std::string AlsoText(const TrialEntry& entry) {
  return entry.other.empty() ? "" : "; " + entry.other;
}

}  // namespace loopscope
