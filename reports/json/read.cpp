#include "reports/json/read.h"

#include "reports/json/reader.h"
#include "reports/json/report.h"
#include "reports/json/schema.h"

namespace loopscope {
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
