// The "target" member of a report's JSON.
#pragma once

#include "profiler/core/report/target.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<TargetRatio> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& ratio) {
    fields("estimate", ratio.estimate);
    fields("low", ratio.low);
    fields("high", ratio.high);
  }
};

template <>
struct JsonFields<TargetRun> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& run) {
    fields("block", run.block);
    fields("reached", run.reached);
    fields("seconds", run.seconds);
    fields("steps", run.steps);
    fields("samples", run.samples);
    fields("last", run.last);
    fields("status", run.status);
  }
};

template <>
struct JsonFields<TargetArm> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& arm) {
    fields("name", arm.name);
    fields("reached", arm.reached);
    fields("median_s", arm.median_s);
    fields("median_steps", arm.median_steps);
    fields("median_samples", arm.median_samples);
    fields("runs", arm.runs);
  }
};

template <>
struct JsonFields<TargetComparison> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("name", one.name);
    fields("n", one.n);
    fields("seconds", one.seconds);
    fields("steps", one.steps);
  }
};

template <>
struct JsonFields<TargetFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& facts) {
    fields("metric", facts.target.metric);
    fields("value", facts.target.value);
    fields("at_least", facts.target.at_least);
    fields("source", facts.source);
    fields("limit_s", facts.limit_s);
    fields("arms", facts.arms);
    fields("comparisons", facts.comparisons);
  }
};

}  // namespace loopscope
