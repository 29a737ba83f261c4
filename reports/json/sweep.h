// The "sweep" member of a report's JSON.
#pragma once

#include "profiler/core/report/sweep.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<SweepAxis> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& axis) {
    fields("key", axis.key);
    fields("values", axis.values);
  }
};

template <>
struct JsonFields<SweepCell> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& cell) {
    fields("values", cell.values);
    fields("own", cell.own);
    fields.Named("verdict", cell.verdict, CellVerdictName, CellVerdict::kLeftOut);
    fields("reason", cell.reason);
    fields("n", cell.n);
    fields("ms", cell.ms);
    fields("samples_per_s", cell.samples_per_s);
    fields("epoch_ms", cell.epoch_ms);
    fields("ratio", cell.ratio);
    fields("ci95", cell.ci95);
    fields("peak_bytes", cell.peak_bytes);
    fields("published_s", cell.published_s);
  }
};

template <>
struct JsonFields<SweepComparison> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("cell", one.cell);
    fields("speedup", one.speedup);
    fields("ci95", one.ci95);
    fields("n", one.n);
    fields("p", one.p);
    fields("p_holm", one.p_holm);
    fields.TextOrNull("method", one.method);
    fields.Named("verdict", one.verdict, TrialVerdictName, TrialVerdict::kUseful);
    fields("reason", one.reason);
  }
};

template <>
struct JsonFields<SweepFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& sweep) {
    fields("axes", sweep.axes);
    fields("loader_only", sweep.loader_only);
    fields("metric", sweep.metric);
    fields("cells", sweep.cells);
    fields("best", sweep.best);
    fields("stands_out", sweep.stands_out);
    fields("verdict", sweep.verdict);
    fields("comparisons", sweep.comparisons);
    fields("notes", sweep.notes);
    fields.TextOrNull("published", sweep.published);
  }
};

}  // namespace loopscope
