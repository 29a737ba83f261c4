#include "reports/json/run.h"

#include "profiler/core/json_members.h"
#include "reports/json/values.h"

namespace loopscope {

using namespace json_members;
using json_values::Json;
using json_values::TextOrNull;

Json RunJson(const RunInfo& run) {
  return {{"command", run.command},
          {"started", TextOrNull(run.started)},
          {"source", run.source},
          {"host",
           {{"cpu", TextOrNull(run.cpu)},
            {"cores", run.cores > 0 ? Json(run.cores) : Json(nullptr)},
            {"gpus", run.gpus},
            {"features", run.cpu_features}}},
          {"versions", run.versions},
          {"ranks", run.ranks},
          {"rank", run.rank},
          {"working_directory", TextOrNull(run.working_directory)},
          {"environment", run.environment},
          {"treatment", TextOrNull(run.treatment)},
          {"exit_status", run.exit_status < 0 ? Json(nullptr) : Json(run.exit_status)}};
}

RunInfo ReadRun(const json& object) {
  RunInfo run;
  run.source = Text(object, "source");
  run.command = Texts(object, "command");
  run.started = Text(object, "started");
  run.working_directory = Text(object, "working_directory");
  const json& host = Member(object, "host");
  run.cpu = Text(host, "cpu");
  run.cores = Whole<int>(host, "cores");
  run.cpu_features = Texts(host, "features");
  run.gpus = Texts(host, "gpus");
  run.versions = TextMap(object, "versions");
  run.environment = TextMap(object, "environment");
  run.treatment = Text(object, "treatment");
  run.exit_status = Whole<int>(object, "exit_status", -1);
  run.ranks = Whole<int>(object, "ranks", 1);
  run.rank = Whole<int>(object, "rank");
  return run;
}

}  // namespace loopscope
