// The "gate" member of a report's JSON.
#pragma once

#include "profiler/core/report/gate.h"
#include "reports/json/fields.h"
#include "reports/json/rows.h"

namespace loopscope {

template <>
struct JsonFields<CounterPlace> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& place) {
    fields("where", place.where);
    fields("before", place.before);
    fields("after", place.after);
  }
};

template <>
struct JsonFields<CounterRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& counter) {
    fields("name", counter.name);
    fields.Named("kind", counter.kind, CounterKindName, CounterKind::kCount);
    fields("before", counter.before);
    fields("after", counter.after);
    fields("change", counter.change);
    fields("fails", counter.fails);
    fields("reason", counter.reason);
    fields("places", counter.places);
  }
};

template <>
struct JsonFields<GrownTime> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& grown) {
    fields.Named("kind", grown.kind, GrownKindName, GrownKind::kKernel);
    fields("name", grown.name);
    fields("where", grown.where);
    fields("before_ms", grown.before_ms);
    fields("after_ms", grown.after_ms);
    fields("touched", grown.touched);
  }
};

template <>
struct JsonFields<GateEvidence> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& pair) {
    fields("slower", pair.slower);
    fields("under_limit", pair.under_limit);
  }
};

template <>
struct JsonFields<GateDecision> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& time) {
    fields.Named("verdict", time.verdict, GateVerdictName, GateVerdict::kInconclusive);
    fields("reason", time.reason);
    fields.If(time.pairs > 0, "slowdown", time.slowdown);
    fields("upper95", time.upper95);
    fields("pairs", time.pairs);
    fields("fails_from", time.fails_from);
    fields("passes_from", time.passes_from);
    fields("evidence", time.evidence);
    fields.If(time.pairs > 1, "pair_sd", time.pair_sd);
    fields.If(time.pairs > 1, "detectable", time.detectable);
  }
};

template <>
struct JsonFields<GateRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("command", row.command);
    fields("against", row.against);
    fields.Named("verdict", row.verdict, GateVerdictName, GateVerdict::kInconclusive);
    fields("reason", row.reason);
    fields("error", row.error);
    fields("time", row.time);
    fields("why_no_time", row.why_no_time);
    fields("counters", row.counters);
    fields("counters_compared", row.counters_compared);
    fields("why_no_counters", row.why_no_counters);
    fields("grown", row.grown);
    fields("notes", row.notes);
    fields("launches", row.launches);
  }
};

template <>
struct JsonFields<GateFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& gate) {
    // The figures at the top are those of the workload that decides.
    const auto time = [&]() -> const std::optional<GateDecision>& { return DecidingRow(gate).time; };
    fields.Derived("verdict", [&] { return std::string(GateVerdictName(DecidingRow(gate).verdict)); });
    fields.Derived("reason", [&] { return DecidingRow(gate).reason; });
    fields("max_slowdown", gate.max_slowdown);
    fields.Derived("slowdown",
                   [&] { return time() && time()->pairs > 0 ? std::optional(time()->slowdown) : std::nullopt; });
    fields.Derived("upper95", [&] { return time() ? time()->upper95 : std::nullopt; });
    fields.Derived("pairs", [&] { return time() ? time()->pairs : 0; });
    fields.Derived("counters", [&] { return DecidingRow(gate).counters; });
    fields("workloads", gate.workloads);
  }
};

}  // namespace loopscope
