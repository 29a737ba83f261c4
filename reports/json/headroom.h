// "headroom" and "forms" of a report's JSON.
#pragma once

#include "profiler/core/report/report.h"
#include "reports/json/fields.h"
#include "reports/json/rows.h"

namespace loopscope {

template <>
struct JsonFields<Peak> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& peak) {
    fields("what", peak.what);
    fields("giga_per_s", peak.giga_per_s);
  }
};

template <>
struct JsonFields<HeadroomLine> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& line) {
    fields("where", line.where);
    fields("operator", line.what);
    fields("ms", line.ms);
    fields("floor_ms", line.floor_ms);
  }
};

template <>
struct JsonFields<Headroom> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& headroom) {
    fields("step_ms", headroom.step_ms);
    fields("floor_ms", headroom.floor_ms);
    fields("operators_ms", headroom.operators_ms);
    fields("unknown_ms", headroom.unknown_ms);
    fields("mfu_pct", headroom.mfu_pct);
    fields("shared", headroom.shared);
    fields("peaks", headroom.peaks);
    fields("lines", headroom.lines);
  }
};

template <>
struct JsonFields<FormRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& form) {
    fields("form", form.form);
    fields("where", form.where);
    fields("ms", form.ms);
    fields("uses", form.uses);
    fields("ratio", form.ratio);
  }
};

}  // namespace loopscope
