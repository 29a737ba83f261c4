// Launches in a report's JSON: those of a trial, and those of a gate.
#pragma once

#include "profiler/core/report/trial.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<LaunchRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("block", row.block);
    fields("order", row.order);
    fields("arm", row.arm);
    fields("ms_per_step", row.ms_per_step);
    fields("status", row.status);
  }
};

}  // namespace loopscope
