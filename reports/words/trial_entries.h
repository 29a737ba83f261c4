// The trials of a report, each fix once: one may have been tried alone and with others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

struct TrialEntry {
  std::size_t shown = 0;  // of report.trials: with the other fixes where that was measured, else alone
  std::string other;      // what the other measurement brought: "alone 1.08x [1.02, 1.14]"; empty without one
};
std::vector<TrialEntry> TrialEntries(const Report& report);
std::string AlsoText(const TrialEntry& entry);  // "; alone 1.08x [1.02, 1.14]", behind the verdict

}  // namespace loopscope
