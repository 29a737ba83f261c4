// Rows that several members of a report's JSON hold: places in the program; launches of a trial or of a gate.
#pragma once

#include "profiler/core/report/trial.h"
#include "profiler/core/trace/place.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<Where> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields.Path("path", row.path);
    fields("line", row.line);
    fields("function", row.function);
  }
};

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
