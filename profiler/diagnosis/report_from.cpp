#include "profiler/diagnosis/report_from.h"

#include <fstream>
#include <sstream>

#include "profiler/core/file_text.h"
#include "profiler/core/launch.h"
#include "profiler/diagnosis/diagnosis.h"
#include "profiler/diagnosis/rank_inputs.h"
#include "profiler/diagnosis/rank_report.h"
#include "profiler/diagnosis/summaries.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/importers.h"
#include "reports/json/report_json.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

Result<Report> FromJson(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot be read", path, "check its permissions"};
  std::ostringstream text;
  text << file.rdbuf();
  auto report = ReadReportJson(text.str());
  return report ? std::move(report) : InFile(path, report.error());
}

// A trace is JSON too: a report is recognised by its schema.
bool IsReportJson(const fs::path& file) {
  if (file.extension() != ".json") return false;
  const std::string head = FileHead(file, kHeadBytes).value_or("");
  return head.find(kReportSchemaPrefix) != head.npos;
}

Report Placed(Report report, const fs::path& input) {
  report.output_directory = FolderOf(input);
  return report;
}

}  // namespace

void AddTimeline(const fs::path& input, Report& report) {
  std::error_code error;
  if (report.timeline || !fs::is_directory(input / "diagnosis", error)) return;
  if (auto trace = ReadAnyTrace(input / "diagnosis")) {
    report.timeline = std::make_shared<const Timeline>(Timeline::Build(std::move(*trace)));
  }
}

Result<Report> ReportFrom(const fs::path& input) {
  std::error_code error;
  if (!fs::exists(input, error)) return MissingInput(input);
  if (IsSummary(input)) return ReportOfSummaries({input.native()});
  const bool folder = fs::is_directory(input, error);
  // Of a run that was killed, and so never put its captures in order.
  if (folder && fs::exists(input / kRecordingName / kRunJsonName, error)) return ReportFrom(input / kRecordingName);
  const fs::path finished = folder ? input / "report.json" : input;
  std::vector<Input> ranks = RankInputs(input);
  const bool traces_here = !ranks.empty() && !fs::is_directory(ranks.front().path, error);
  if (!traces_here && IsReportJson(finished)) return FromJson(finished);
  if (ranks.size() < 2) {
    auto trace = ReadAnyTrace(OnlyTrace(input, ranks));
    if (!trace) return trace.error();
    ranks = RankInputsOf(*trace, input);
    if (ranks.size() < 2) return Placed(DiagnosisOf(std::move(*trace)), input);
  }
  auto report = ReportOfRanks(ranks);
  if (!report) return report.error();
  if (*report) return Placed(std::move(**report), input);
  auto trace = ReadAnyTrace(input);
  if (!trace) return trace.error();
  return Placed(DiagnosisOf(std::move(*trace)), input);
}

}  // namespace loopscope
