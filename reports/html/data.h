// What the HTML page shows, as one tree of JSON: the report, its texts in words, source lines, and steps to draw.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/core/report/report.h"

namespace loopscope {

// Every text in it is printable and cut to a sensible length, whatever the report holds.
nlohmann::ordered_json PageData(const Report& report);

}  // namespace loopscope
