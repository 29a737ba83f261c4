// Findings and rules in a report's JSON.
#pragma once

#include "profiler/core/report/expected_gain.h"
#include "profiler/core/report/report.h"
#include "reports/json/fields.h"
#include "reports/json/rows.h"

namespace loopscope {

template <>
struct JsonFields<RuleRow> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& row) {
    fields("id", row.id);
    fields.Named("verdict", row.verdict, VerdictName, Verdict::kNotApplicable);
    fields("reason", row.reason);
    fields.TextOrNull("judges", row.judges);
  }
};

template <>
struct JsonFields<Claim> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& claim) {
    fields.Named("of", claim.of, TimeName, Time::kItsPlaces);
    fields.Named("standing", claim.standing, StandingName, Standing::kRest);
    fields.If(claim.ms > 0, "ms", claim.ms);
  }
};

template <>
struct JsonFields<Evidence> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("text", one.text);
    fields("count", one.count);
    fields.If(one.ms > 0, "ms", one.ms);
    fields("where", one.where);
    fields("called_at", one.called_at);
  }
};

template <>
struct JsonFields<CodeExample> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("language", one.language);
    fields("before", one.before);
    fields("after", one.after);
  }
};

template <>
struct JsonFields<ExpectedGainPct> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& gain) {
    fields("pct", gain.pct);
    fields("low", gain.low);
    fields("high", gain.high);
    fields.Derived("basis", [&] { return std::string(GainBasisName(gain.basis)); });
  }
};

template <>
struct JsonFields<Finding> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& finding) {
    fields("id", finding.id);
    fields("rule", finding.rule);
    fields("title", finding.title);
    fields.Named("severity", finding.severity, SeverityName, Severity::kHigh);
    fields("cost_ms_per_step", finding.cost_ms_per_step);
    fields("cost_pct", finding.cost_pct);
    fields.NamedIfGiven("cost_is", finding.cost_is, CostKindName, CostKind::kLeast);
    fields("expected_gain_ms", finding.expected_gain_ms);
    // In percent of the step; null if nothing better than the cost is known.
    fields.Derived("expected_gain_pct", [&]() -> std::optional<double> {
      if (!finding.expected_gain_ms || finding.cost_ms_per_step <= 0) return std::nullopt;
      return *finding.expected_gain_ms / finding.cost_ms_per_step * finding.cost_pct;
    });
    // Ranks findings.
    fields.Derived("expected_gain", [&] { return ExpectedGainPctOf(finding); });
    fields("per_epoch", finding.per_epoch);
    fields("claims", finding.claims);
    fields("usual_share", finding.usual_share);
    fields("evidence", finding.evidence);
    fields("advice", finding.advice);
    fields("examples", finding.examples);
    fields.TextOrNull("treatment", finding.treatment_id);
    fields.TextOrNull("treatment_value", finding.treatment);
    fields.Source("source");
  }
};

}  // namespace loopscope
