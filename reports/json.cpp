// The report as JSON, by reports/schema.json. Invalid UTF-8 is replaced, numbers that are unknown or not finite are
// null, places inside the run's working directory are relative to it.
#include <nlohmann/json.hpp>

#include "profiler/core/format.h"
#include "reports/json/report_json.h"

namespace loopscope {
namespace {

Result<void> WriteJson(const Report& report, Output& output) {
  output.bytes += ReportTree(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  output.bytes += '\n';
  return {};
}

}  // namespace

extern const Format kJson = {"json", "everything, for the next program", WriteJson};

}  // namespace loopscope
