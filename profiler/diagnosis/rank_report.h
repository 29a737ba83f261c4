// Many ranks as one report: each is read, put in order and summarised; then the rules over all ranks run.
#pragma once

#include <optional>
#include <vector>

#include "profiler/core/importer.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// As many ranks in flight as cores; of the others only their summaries are kept, and the timeline of the one with the
// longest own work per step, whose diagnosis the report is. An input that cannot be read is a warning, unless none can.
// nullopt when fewer than two ranks are left: then it is one rank's trace.
Result<std::optional<Report>> ReportOfRanks(const std::vector<Input>& inputs);

}  // namespace loopscope
