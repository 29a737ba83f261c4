#include "reports/json/launches.h"

#include "profiler/core/json_members.h"
#include "reports/json/values.h"

namespace loopscope {

nlohmann::ordered_json LaunchesJson(const std::vector<LaunchRow>& launches) {
  using json_values::Json;
  Json rows = Json::array();
  for (const LaunchRow& launch : launches) {
    rows.push_back({{"block", launch.block},
                    {"order", launch.order},
                    {"arm", launch.arm},
                    {"ms_per_step", json_values::NumberOrNull(launch.ms_per_step)},
                    {"status", launch.status}});
  }
  return rows;
}

std::vector<LaunchRow> ReadLaunches(const nlohmann::json& object) {
  using namespace json_members;
  std::vector<LaunchRow> launches;
  for (const json& item : Items(object, "launches")) {
    launches.push_back({Whole<int>(item, "block"), Whole<int>(item, "order"), Text(item, "arm"),
                        Number(item, "ms_per_step"), Text(item, "status")});
  }
  return launches;
}

}  // namespace loopscope
