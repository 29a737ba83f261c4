// The members of a report's JSON that say what was recorded: "run", its "quality", the ranks.
#pragma once

#include "profiler/core/report/report.h"
#include "profiler/core/trace/quality.h"
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

template <>
struct JsonFields<Quality> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& quality) {
    fields("events", quality.events);
    fields("dropped", quality.dropped);
    fields("stalls_over_1ms", quality.stalls_over_1ms);
    fields("torn_bytes", quality.torn_bytes);
    fields("clean_end", quality.clean_end);
    fields.If(quality.probe_cost_pct != -1, "probe_cost_pct", quality.probe_cost_pct);
    fields("warnings", quality.warnings);
  }
};

template <>
struct JsonFields<RankRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("rank", row.rank);
    fields.TextOrNull("node", row.node);
    fields("input", row.input);
    fields("shown", row.shown);
    fields("steps", row.steps);
    fields("mean_ms", row.mean_ms);
    fields("own_ms", row.own_ms);
    fields("communication_exposed_ms", row.communication_exposed_ms);
    fields("loader_wait_ms", row.loader_wait_ms);
    fields("busy_pct", row.busy_pct);
  }
};

}  // namespace loopscope
