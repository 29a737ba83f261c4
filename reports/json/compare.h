// The "compare" member of a report's JSON.
#pragma once

#include <string_view>

#include "profiler/core/report/comparison.h"
#include "reports/json/fields.h"

namespace loopscope {

template <>
struct JsonFields<OpChange> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& op) {
    fields("name", op.name);
    fields.Text(
        "on", [&] { return op.device ? "device" : "host"; }, [&](const auto& on) { op.device = on == "device"; });
    fields("change", op.change);
    fields("before_ms", op.before_ms);
    fields("after_ms", op.after_ms);
    fields("before_count", op.before_count);
    fields("after_count", op.after_count);
  }
};

template <>
struct JsonFields<FindingName> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("id", one.id);
    fields("rule", one.rule);
    fields("title", one.title);
  }
};

template <>
struct JsonFields<Comparison> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& compare) {
    fields("before", compare.before);
    fields("after", compare.after);
    fields("obstacles", compare.obstacles);
    fields("differences", compare.differences);
    Change(fields, "step", compare.before_ms, compare.after_ms);
    Change(fields, "sample", compare.before_sample_ms, compare.after_sample_ms);
    fields.Object("parts", [&](auto& parts) {
      for (int part = 0; part < kParts; ++part) {
        Change(parts, PartName(static_cast<Part>(part)), compare.parts_before_ms[part], compare.parts_after_ms[part]);
      }
    });
    fields("why_no_ops", compare.why_no_ops);
    fields("ops", compare.ops);
    fields("ops_left_out", compare.ops_left_out);
    fields("new_findings", compare.new_findings);
    fields("gone_findings", compare.gone_findings);
  }

 private:
  template <class Fields, class Value>
  static void Change(Fields& fields, std::string_view key, Value& before, Value& after) {
    fields.Object(key, [&](auto& pair) {
      pair("before_ms", before);
      pair("after_ms", after);
    });
  }
};

}  // namespace loopscope
