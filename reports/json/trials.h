// Trials of fixes in a report's JSON.
#pragma once

#include <algorithm>
#include <string_view>

#include "profiler/core/report/trial.h"
#include "reports/json/fields.h"
#include "reports/json/rows.h"

namespace loopscope {

inline std::string_view AppliedStateName(std::uint32_t flags) {
  if (flags & wire::kAppliedFailed) return "failed";
  if (flags & wire::kAppliedNotApplicable) return "not-applicable";
  return flags & wire::kAppliedLost ? "lost" : "applied";
}

inline std::uint32_t AppliedFlags(std::string_view state) {
  for (const std::uint32_t flag : {wire::kAppliedFailed, wire::kAppliedNotApplicable, wire::kAppliedLost}) {
    if (AppliedStateName(flag) == state) return flag;
  }
  return 0;
}

template <>
struct JsonFields<Applied> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("key", one.key);
    fields("where", one.where);
    fields("old", one.old_value);
    fields("new", one.new_value);
    fields.Text(
        "state", [&] { return AppliedStateName(one.flags); },
        [&](const auto& state) { one.flags = AppliedFlags(state); });
  }
};

template <>
struct JsonFields<LossFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& loss) {
    fields.Text(
        "verdict", [&] { return LossText(loss); }, [&](const auto& verdict) { SetLossText(verdict, loss); });
    fields("max_difference", loss.max_difference);
    fields("baseline", loss.baseline);
    fields("treated", loss.treated);
  }
};

template <>
struct JsonFields<TrialRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& trial) {
    fields("treatment", trial.treatment);
    fields("value", trial.value);
    fields("context", trial.context);
    fields("rules", trial.rules);
    fields("metric", trial.metric);
    fields("speedup", trial.speedup);
    fields("ci95", trial.ci95);
    fields("n", trial.n);
    fields("p", trial.p);
    fields("p_holm", trial.p_holm);
    fields.TextOrNull("method", trial.method);
    fields.Named("verdict", trial.verdict, TrialVerdictName, TrialVerdict::kUseful);
    fields("reason", trial.reason);
    fields("margin_pct", trial.margin_pct);
    fields("detectable_pct", trial.detectable_pct);
    fields.Object("applied", [&](auto& applied) {
      applied.Derived("changed", [&] { return std::ranges::count_if(trial.applied, &Applied::changed); });
      applied("places", trial.applied);
    });
    fields.TextOrNull("exactness", trial.exactness);
    fields("loss", trial.loss);
    fields.Object("peak_bytes", [&](auto& peak) {
      peak("baseline", trial.peak_bytes_baseline);
      peak("treated", trial.peak_bytes_treated);
    });
    fields("one_time_cost_s", trial.one_time_cost_s);
    fields("launches", trial.launches);
  }
};

template <>
struct JsonFields<CombinedRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("treatments", row.treatments);
    fields("speedup", row.speedup);
    fields("ci95", row.ci95);
    fields("n", row.n);
    fields.TextOrNull("method", row.method);
    fields("reason", row.reason);
  }
};

template <>
struct JsonFields<NoiseFacts> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& noise) {
    fields("pair_sd_pct", noise.pair_sd_pct);
    fields("detectable_pct", noise.detectable_pct);
  }
};

}  // namespace loopscope
