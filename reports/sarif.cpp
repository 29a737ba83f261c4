// The findings as SARIF 2.1.0 (OASIS standard, 27 March 2020), so that code hosts show them at their lines. For a gate,
// what made it fail.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/core/format.h"
#include "profiler/core/printable.h"
#include "reports/words/escape.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchemaUri =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr std::string_view kRoot = "SRCROOT";
constexpr std::size_t kMostLocations = 10, kMostResults = 1000, kLongestPath = 4096;

std::string_view LevelName(Severity severity) {
  if (severity == Severity::kHigh) return "error";
  return severity == Severity::kMedium ? "warning" : "note";
}

Json Message(std::string_view text) {
  return {{"text", Printable(text, 1000)}};
}

// Relative to the run's folder where it lies inside it: that is what code hosts know.
Json ArtifactJson(const std::string& path, const std::string& directory) {
  const std::string relative = RelativePath(path, directory).substr(0, kLongestPath);
  if (relative.starts_with('/')) return {{"uri", "file://" + UriPath(relative)}};
  return {{"uri", UriPath(relative)}, {"uriBaseId", kRoot}};
}

Json LocationJson(const Evidence& evidence, const std::string& directory) {
  const Where& where = *evidence.where;
  Json physical = {{"artifactLocation", ArtifactJson(where.path, directory)}};
  if (where.line > 0) physical["region"] = {{"startLine", where.line}};
  Json location = {{"physicalLocation", std::move(physical)}};
  if (!where.function.empty()) {
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", Printable(where.function, 200)}, {"kind", "function"}}});
  }
  if (!evidence.text.empty()) location["message"] = Message(evidence.text);
  return location;
}

// The first is the place to change; only that one is annotated.
void AddPlaces(const std::vector<Evidence>& evidence, const std::string& directory, Json& result) {
  Json places = Json::array();
  for (const Evidence& one : evidence) {
    if (one.where && !one.where->path.empty() && places.size() < kMostLocations) {
      places.push_back(LocationJson(one, directory));
    }
  }
  if (places.empty()) return;
  result["locations"] = Json::array({places.front()});
  places.erase(places.begin());
  for (std::size_t i = 0; i < places.size(); ++i) places[i]["id"] = i + 1;
  if (!places.empty()) result["relatedLocations"] = std::move(places);
}

std::string ResultText(const Report& report, const Finding& finding) {
  std::string text = Printable(finding.title, 400);
  if (const std::string cost = CostText(report, finding); !cost.empty()) text += " (costs " + cost + ")";
  const std::string advice = AdviceText(report, finding);
  return advice.empty() ? text : text + ". " + advice;
}

Json ResultJson(const Report& report, const Finding& finding, std::size_t rule_index) {
  Json result = {{"ruleId", Printable(finding.rule, 80)},
                 {"ruleIndex", rule_index},
                 {"level", LevelName(finding.severity)},
                 {"message", Message(ResultText(report, finding))}};
  AddPlaces(finding.evidence, report.run.working_directory, result);
  if (!finding.id.empty()) result["partialFingerprints"] = {{"loopscopeFinding/v1", Printable(finding.id, 80)}};
  Json cost = {{"severity", SeverityName(finding.severity)}};
  if (std::isfinite(finding.cost_ms_per_step)) cost["costMsPerStep"] = finding.cost_ms_per_step;
  if (std::isfinite(finding.cost_pct)) cost["costPct"] = finding.cost_pct;
  cost["costIs"] = CostKindName(finding.cost_is);
  result["properties"] = std::move(cost);
  return result;
}

Json RuleJson(const std::string& id, const Finding* found) {
  Json rule = {{"id", Printable(id, 80)}};
  if (found != nullptr && !found->advice.empty()) rule["help"] = Message(found->advice);
  return rule;
}

Json NotificationJson(std::string_view level, std::string_view text) {
  return {{"level", level}, {"message", Message(text)}};
}

// Reasons not to trust the results.
Json NotificationsJson(const Report& report) {
  Json notifications = Json::array();
  if (KindOf(report) == ReportKind::kRun) notifications.push_back(NotificationJson("note", HeadlineText(report)));
  for (const Warning& warning : report.quality.warnings) {
    if (notifications.size() <= kMostLocations) notifications.push_back(NotificationJson("warning", warning.text));
  }
  if (report.gate) {
    for (const GateRow& row : report.gate->workloads) {
      if (row.verdict == GateVerdict::kInconclusive) {
        notifications.push_back(NotificationJson("warning", row.command + ": " + GateText(row)));
      }
    }
  }
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict != Verdict::kCannotTell) continue;
    notifications.push_back(NotificationJson("note", Printable(rule.id, 80) + " cannot tell: " + rule.reason));
  }
  return notifications;
}

struct Results {
  std::map<std::string, std::size_t> index_of;
  Json rules = Json::array(), results = Json::array();

  std::size_t AddRule(const std::string& id, const Finding* found) {
    const auto [at, added] = index_of.try_emplace(id, rules.size());
    if (added) rules.push_back(RuleJson(id, found));
    return at->second;
  }
  void Add(Json result) {
    if (results.size() < kMostResults) results.push_back(std::move(result));
  }
};

void AddFindings(const Report& report, Results& to) {
  for (const Finding& finding : report.findings) {
    to.Add(ResultJson(report, finding, to.AddRule(finding.rule, &finding)));
  }
  for (const RuleRow& rule : report.rules) to.AddRule(rule.id, nullptr);
}

void AddGate(const GateFacts& gate, Results& to) {
  const auto failure = [&](const std::string& rule, const std::string& text) {
    return Json{
        {"ruleId", rule}, {"ruleIndex", to.AddRule(rule, nullptr)}, {"level", "error"}, {"message", Message(text)}};
  };
  for (const GateRow& row : gate.workloads) {
    if (row.time && row.time->verdict == GateVerdict::kFail) {
      to.Add(failure("gate-time", row.command + ": " + row.time->reason));
    }
    for (const CounterRow& counter : row.counters) {
      if (!counter.fails) continue;
      Json result = failure("gate-" + std::string(CounterKindName(counter.kind)), CounterText(counter));
      std::vector<Evidence> evidence;
      for (const CounterPlace& place : counter.places) evidence.push_back({CounterPlaceText(place), 1, place.where});
      AddPlaces(evidence, "", result);
      to.Add(std::move(result));
    }
  }
}

// Whether the program could be observed.
bool Successful(const Report& report) {
  return report.gate ? DecidingRow(*report.gate).error.empty() : Known(report.steps.mean_ms);
}

Json RunJson(const Report& report) {
  Results all;
  if (report.gate) {
    AddGate(*report.gate, all);
  } else {
    AddFindings(report, all);
  }
  Json invocation = {{"executionSuccessful", Successful(report)},
                     {"toolExecutionNotifications", NotificationsJson(report)}};
  if (!report.run.command.empty()) invocation["commandLine"] = ShellQuoted(report.run.command);
  Json run = {{"tool", {{"driver", {{"name", "Loopscope"}, {"rules", std::move(all.rules)}}}}},
              {"invocations", Json::array({std::move(invocation)})},
              {"columnKind", "unicodeCodePoints"},
              {"results", std::move(all.results)}};
  if (!report.run.working_directory.starts_with('/')) return run;
  run["originalUriBaseIds"][std::string(kRoot)] = {{"uri", "file://" + UriPath(report.run.working_directory) + "/"}};
  return run;
}

Result<void> WriteSarif(const Report& report, Output& output) {
  const Json log = {{"$schema", kSchemaUri}, {"version", "2.1.0"}, {"runs", Json::array({RunJson(report)})}};
  output.bytes += log.dump(2, ' ', false, Json::error_handler_t::replace);
  output.bytes += '\n';
  return {};
}

}  // namespace

extern const Format kSarif = {.id = "sarif",
                              .purpose = "findings at their lines, for code hosts",
                              .write = WriteSarif,
                              .carries = kEveryReport & ~static_cast<unsigned>(ReportKind::kSweep)};

}  // namespace loopscope
