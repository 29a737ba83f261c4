// The "run" member of a report's JSON.
#pragma once

#include "profiler/core/trace/trace.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<RunInfo> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& run) {
    fields("command", run.command);
    fields.TextOrNull("started", run.started);
    fields("source", run.source);
    fields.Object("host", [&](auto& host) {
      host.TextOrNull("cpu", run.cpu);
      host.If(run.cores > 0, "cores", run.cores);
      host("gpus", run.gpus);
      host("features", run.cpu_features);
    });
    fields("versions", run.versions);
    fields("ranks", run.ranks);
    fields("rank", run.rank);
    fields.TextOrNull("working_directory", run.working_directory);
    fields("environment", run.environment);
    fields.TextOrNull("treatment", run.treatment);
    fields.If(run.exit_status >= 0, "exit_status", run.exit_status);
  }
};

}  // namespace loopscope
