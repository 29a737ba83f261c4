// The "quality" member of a report's JSON.
#pragma once

#include "profiler/core/trace/quality.h"
#include "reports/json/fields.h"

namespace loopscope {

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

}  // namespace loopscope
