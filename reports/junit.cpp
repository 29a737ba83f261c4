// The report as JUnit's XML: a test case per rule and per trial, as CI systems list them. A rule that found something
// with a cost is a failure, a rule that cannot tell is skipped; a trial fails only when its launches did. A gate has
// one case for the time and one for the counters of each workload; only these decide.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "profiler/core/format.h"
#include "reports/words/escape.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostPlacesOfCase = 20;

struct Suite {
  std::string_view name;
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string cases = {};
  std::string headline = {};  // the report's first sentence

  // `element` is failure, error or skipped, or empty for a case that passed; `text` is already escaped.
  void Add(std::string_view classname, std::string_view id, std::string_view element, std::string_view type,
           std::string_view message, std::string_view text) {
    ++tests;
    failures += element == "failure";
    errors += element == "error";
    skipped += element == "skipped";
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n", classname, XmlText(id, 200));
    if (element.empty()) {
      cases += text.empty() ? "" : fmt::format("      <system-out>{}</system-out>\n", text);
    } else {
      const std::string kind = type.empty() ? "" : fmt::format(" type=\"{}\"", XmlText(type, 80));
      cases += fmt::format("      <{0}{1} message=\"{2}\">{3}</{0}>\n", element, kind, XmlText(message, 400), text);
    }
    cases += "    </testcase>\n";
  }

  std::string Xml() const {
    std::string properties;
    if (!headline.empty()) {
      properties = fmt::format(
          "    <properties>\n      <property name=\"headline\" value=\"{}\"/>\n    </properties>\n", XmlText(headline));
    }
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">\n{}{}"
        "  </testsuite>\n",
        name, tests, failures, errors, skipped, properties, cases);
  }
};

std::string FindingText(const Finding& finding, const Report& report) {
  const std::string& directory = report.run.working_directory;
  std::string text = XmlText(finding.title);
  std::size_t places = 0;
  for (const Evidence& one : finding.evidence) {
    if (++places > kMostPlacesOfCase) break;
    text += "\n  " + XmlText(one.where ? PlaceText(one, directory) + ": " + one.text : one.text);
  }
  if (const std::string cost = CostText(report, finding); !cost.empty()) text += "\n  Cost: " + XmlText(cost);
  if (const std::string advice = AdviceText(report, finding); !advice.empty()) text += "\n  Fix: " + XmlText(advice);
  return text;
}

void AddFound(const RuleRow& rule, const Report& report, Suite& suite) {
  std::string text;
  const Finding* worst = nullptr;
  for (const Finding& finding : report.findings) {
    if (finding.rule != rule.id) continue;
    if (worst == nullptr || finding.severity > worst->severity) worst = &finding;
    text += (text.empty() ? "" : "\n") + FindingText(finding, report);
  }
  const bool fails = worst != nullptr && worst->severity > Severity::kInfo;
  suite.Add("loopscope.rules", rule.id, fails ? "failure" : "", worst ? SeverityName(worst->severity) : "",
            worst ? worst->title : "", text);
}

void AddRule(const RuleRow& rule, const Report& report, Suite& suite) {
  switch (rule.verdict) {
    case Verdict::kFound:
      return AddFound(rule, report, suite);
    case Verdict::kClear:
      return suite.Add("loopscope.rules", rule.id, "", "", "", "");
    case Verdict::kCannotTell:
      return suite.Add("loopscope.rules", rule.id, "skipped", "", "cannot tell: " + rule.reason, "");
    case Verdict::kNotApplicable:
      return suite.Add("loopscope.rules", rule.id, "skipped", "", "not applicable: " + rule.reason, "");
  }
}

void AddTrial(const TrialRow& trial, const Report& report, Suite& suite) {
  const std::string verdict = VerdictText(trial, report.noise), checks = ChecksText(trial);
  std::string text = XmlText(SpeedupText(trial) + ": " + verdict);
  if (!checks.empty()) text += "\n  " + XmlText(checks);
  const bool judged = Known(trial.speedup) && trial.verdict != TrialVerdict::kInconclusive;
  const std::string_view element = trial.verdict == TrialVerdict::kFailed ? "error" : judged ? "" : "skipped";
  suite.Add("loopscope.trials", TreatmentText(trial.treatment, trial.value) + " " + trial.context, element,
            element == "error" ? "failed" : "", verdict, text);
}

void AddGateTime(const GateRow& row, Suite& suite) {
  const std::string name = row.command + " time";
  if (!row.error.empty()) return suite.Add("loopscope.gate", name, "error", "failed", row.reason, XmlText(row.error));
  if (!row.time) return suite.Add("loopscope.gate", name, "skipped", "", row.why_no_time, "");
  const bool fails = row.time->verdict == GateVerdict::kFail, passes = row.time->verdict == GateVerdict::kPass;
  suite.Add("loopscope.gate", name,
            fails    ? "failure"
            : passes ? ""
                     : "skipped",
            fails ? "slower" : "", row.time->reason, XmlText(row.time->reason + "; " + GateTimeText(row)));
}

void AddGateCounters(const GateRow& row, Suite& suite) {
  const std::string name = row.command + " counters";
  if (!row.why_no_counters.empty()) return suite.Add("loopscope.gate", name, "skipped", "", row.why_no_counters, "");
  std::string text = XmlText(GateCountersText(row));
  const CounterRow* failing = nullptr;
  for (const CounterRow& counter : row.counters) {
    if (counter.fails && failing == nullptr) failing = &counter;
    text += "\n  " + XmlText(CounterText(counter));
    for (const CounterPlace& place : counter.places) text += "\n    " + XmlText(CounterPlaceText(place));
  }
  suite.Add("loopscope.gate", name, failing ? "failure" : "", failing ? CounterKindName(failing->kind) : "",
            failing ? CounterText(*failing) : "", text);
}

std::vector<Suite> SuitesOf(const Report& report) {
  if (report.gate) {
    Suite gate{.name = "loopscope gate"};
    for (const GateRow& row : report.gate->workloads) {
      AddGateTime(row, gate);
      AddGateCounters(row, gate);
    }
    return {gate};
  }
  Suite rules{.name = "loopscope rules"}, trials{.name = "loopscope trials"};
  rules.headline = HeadlineText(report);
  for (const RuleRow& rule : report.rules) AddRule(rule, report, rules);
  for (const TrialRow& trial : report.trials) AddTrial(trial, report, trials);
  return {rules, trials};
}

Result<void> WriteJunit(const Report& report, Output& output) {
  int tests = 0, failures = 0, errors = 0;
  std::string xml;
  for (const Suite& suite : SuitesOf(report)) {
    tests += suite.tests;
    failures += suite.failures;
    errors += suite.errors;
    if (suite.tests > 0) xml += suite.Xml();
  }
  output.bytes += fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"loopscope\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\">\n{}</testsuites>\n",
      tests, failures, errors, xml);
  return {};
}

}  // namespace

extern const Format kJunit = {
    .id = "junit",
    .purpose = "a case for each rule and trial, for CI",
    .write = WriteJunit,
    .carries = ReportKind::kRun | ReportKind::kTrials | ReportKind::kTarget | ReportKind::kGate};

}  // namespace loopscope
