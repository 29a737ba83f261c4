// The "gpu" and "collectives" members of a report's JSON.
#pragma once

#include "profiler/core/report/report.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<GpuFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& gpu) {
    fields("definitions", gpu.definitions);
    fields.TextOrNull("incomplete", gpu.incomplete);
    fields("devices", gpu.devices);
    fields("steps", gpu.steps);
    fields("busy_pct", gpu.busy_pct);
    fields("idle_pct", gpu.idle_pct);
    fields("span_us", gpu.span_us);
    fields.If(gpu.incomplete.empty(), "idle_us", gpu.idle_us);
    fields("compute_us", gpu.compute_us);
    fields("communication_us", gpu.communication_us);
    fields("memory_us", gpu.memory_us);
    fields("other_us", gpu.other_us);
    fields("comm_overlap_pct", gpu.comm_overlap_pct);
    fields("launch_delay_us", gpu.launch_delay_us);
    fields("queue_depth", gpu.queue_depth);
    fields.Object("idle_causes", [&](auto& causes) {
      for (int cause = 0; cause < kIdleCauses; ++cause) {
        causes.Given(IdleCauseName(static_cast<IdleCause>(cause)), gpu.idle_causes_us[cause]);
      }
    });
  }
};

template <>
struct JsonFields<CollectiveRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("group", row.group);
    fields("operation", row.operation);
    fields.TextOrNull("phase", row.phase);
    fields.If(row.ranks > 0, "ranks", row.ranks);
    fields("per_step", row.count);
    fields("ms", row.ms);
    fields("exposed_ms", row.exposed_ms);
    fields("mbytes", row.mbytes);
    fields("bus_gbytes_per_s", row.bus_gbytes_per_s);
    fields("skew_ms", row.skew_ms);
  }
};

}  // namespace loopscope
