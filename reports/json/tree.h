// The report as a tree of JSON values, for formats that carry it inside something else.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/core/report/report.h"

namespace loopscope {

// By reports/schema.json; texts are as they came from outside.
nlohmann::ordered_json ReportTree(const Report& report);

}  // namespace loopscope
