#include "reports/json/report_json.h"

#include <nlohmann/json.hpp>

#include "profiler/core/report/headline.h"
#include "reports/json/reader.h"
#include "reports/json/report.h"
#include "reports/json/schema.h"
#include "reports/json/writer.h"
#include "reports/words/headline_wording.h"

namespace loopscope {
namespace {

using Json = JsonWriter::Json;

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json HeadlineJson(const Report& report) {
  const Headline headline = HeadlineOf(report);
  return {{"text", HeadlineText(report)},
          {"kind", HeadlineKindName(headline.kind)},
          {"part", TextOrNull(headline.part)},
          {"rule", headline.finding ? Json(headline.finding->rule) : Json()},
          {"where", JsonWriter::Of(headline.where, report.run)},
          {"library", JsonWriter::Of(headline.library, report.run)},
          {"what", TextOrNull(headline.what)},
          {"of", headline.of_run ? "run" : "step"},
          {"ms", JsonWriter::Of(headline.ms)},
          {"share_pct", JsonWriter::Of(headline.share_pct)}};
}

}  // namespace

Json ReportTree(const Report& report) {
  Json tree = {{"schema", std::string(kReportSchemaPrefix) + std::to_string(kReportSchemaVersion)},
               {"headline", HeadlineJson(report)}};
  tree.update(JsonWriter::Of(report, report.run));
  return tree;
}

namespace {

using nlohmann::json;

// Indices in a file must not point outside the cells.
void CheckIndices(const SweepFacts& sweep, const json& object) {
  const auto out = [&](int cell) { return cell < 0 || cell >= static_cast<int>(sweep.cells.size()); };
  bool wrong = sweep.best && out(*sweep.best);
  for (const SweepComparison& one : sweep.comparisons) wrong = wrong || out(one.cell);
  for (const SweepCell& cell : sweep.cells) {
    wrong = wrong || (!cell.values.empty() && cell.values.size() != sweep.axes.size());
  }
  if (wrong) throw json::other_error::create(501, "a sweep that names a cell which it has not", &object);
}

Report ReadReport(const json& object) {
  Report report;
  JsonReader::Into(object, report);
  if (report.gate && report.gate->workloads.empty()) {
    throw json::other_error::create(501, "a gate without a workload", &object);
  }
  if (report.sweep) CheckIndices(*report.sweep, object);
  return report;
}

constexpr JsonKind kReport{.prefix = kReportSchemaPrefix,
                           .version = kReportSchemaVersion,
                           .what = "a Loopscope report",
                           .next = "pass JSON that `loopscope … --json FILE` wrote"};

}  // namespace

Result<Report> ReadReportJson(std::string_view text) {
  return ReadJson<Report>(text, kReport, ReadReport);
}

}  // namespace loopscope
