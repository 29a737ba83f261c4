// The ranks of a report's JSON.
#pragma once

#include "profiler/core/report/report.h"
#include "reports/json/fields.h"

namespace loopscope {

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
