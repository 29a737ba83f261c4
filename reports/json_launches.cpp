#include "reports/json_launches.h"

#include "reports/json_members.h"

namespace loopscope {

nlohmann::ordered_json LaunchesJson(const std::vector<LaunchRow>& launches) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const LaunchRow& launch : launches) {
    const bool known = launch.ms_per_step && std::isfinite(*launch.ms_per_step);
    rows.push_back({{"block", launch.block},
                    {"order", launch.order},
                    {"arm", launch.arm},
                    {"ms_per_step", known ? Json(*launch.ms_per_step) : Json(nullptr)},
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
