// The members of a report's JSON that say where time goes: "steps", "whole", and the rows of lines.
#pragma once

#include "profiler/core/report/step_facts.h"
#include "reports/json/fields.h"
#include "reports/json/rows.h"

namespace loopscope {

template <>
struct JsonFields<ClockFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& clock) {
    fields("ends_with", clock.ends_with);
    fields.Named("found_by", clock.found_by, ClockSourceName, ClockSource::kTrace);
    fields("guessed", clock.guessed);
    fields("batches", clock.batches);
    fields("backwards", clock.backwards);
    fields("optimizer_calls", clock.optimizer_calls);
  }
};

template <>
struct JsonFields<StepFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& steps) {
    fields("clock", steps.clock);
    fields("warmup", steps.warmup);
    fields("measured", steps.measured);
    fields("without_operators", steps.without_operators);
    fields("in_mean", steps.in_mean);
    fields("disturbed", steps.disturbed);
    fields("transient", steps.transient);
    fields("transient_mean_ms", steps.transient_mean_ms);
    fields("trend_pct", steps.trend_pct);
    fields("mean_ms", steps.mean_ms);
    fields("p50_ms", steps.p50_ms);
    fields("p95_ms", steps.p95_ms);
    fields("samples_per_s", steps.samples_per_s);
    fields("per_epoch_ms", steps.per_epoch_ms);
  }
};

template <>
struct JsonFields<WholeFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& whole) {
    fields("start_up", whole.start_up_ms);
    fields("steps", whole.steps_ms);
    fields("epoch_starts", whole.epoch_starts_ms);
    fields("evaluation", whole.evaluation_ms);
    fields("other_between_steps", whole.other_between_steps_ms);
    fields.Object("counts", [&](auto& counts) {
      counts("steps", whole.steps);
      counts("epoch_starts", whole.epoch_starts);
      counts("evaluations", whole.evaluations);
    });
  }
};

template <>
struct JsonFields<LineRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& line) {
    fields("where", line.where);
    fields("library", line.library);
    fields.TextOrNull("what", line.what);
    fields("phase", line.phase);
    fields("ms_per_step", line.ms);
    fields("share_pct", line.share_pct);
    fields("what_ms", line.what_ms);
    fields("operators_ms", line.operators_ms);
  }
};

}  // namespace loopscope
