// The series of a history as one HTML page that loads nothing from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "profiler/commands/history_series.h"

namespace loopscope {

// `rule`: see RunText.
std::string HistoryPage(const std::vector<HistorySeries>& series, const std::string& rule);

}  // namespace loopscope
