#include "profiler/commands/diagnosis.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "analyzers/diagnose.h"
#include "profiler/importers/importers.h"
#include "profiler/treatments/treatments.h"
#include "reports/report_json.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 5;

std::string TreatmentOf(std::string_view rule) {
  const Treatment* const treatment = TreatmentFor(rule);
  return treatment ? std::string(treatment->id) : "";
}

bool HoldsCapture(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".cap") return true;
  }
  return false;
}

Result<Report> FromJson(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot be read", path, "check its permissions"};
  std::ostringstream text;
  text << file.rdbuf();
  auto report = ReadReportJson(text.str());
  if (!report) {
    Error error = report.error();
    error.where = path.native() + (error.where.empty() ? "" : ": " + error.where);
    return error;
  }
  return report;
}

std::vector<double> BatchMeans(const Timeline& timeline) {
  std::vector<double> means;
  double sum = 0;
  std::size_t taken = 0;
  for (const Step& step : timeline.steps()) {
    if (step.boundary) continue;
    sum += static_cast<double>(step.time.length());
    if (++taken % kBatch) continue;
    means.push_back(sum / kBatch);
    sum = 0;
  }
  return means;
}

// The squared standard error of the mean of values[from…], up to a factor.
double Error2(const std::vector<double>& values, std::size_t from) {
  const double n = static_cast<double>(values.size() - from);
  const double mean = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(), 0.0) / n;
  double squares = 0;
  for (std::size_t i = from; i < values.size(); ++i) squares += (values[i] - mean) * (values[i] - mean);
  return squares / (n * n);
}

}  // namespace

Report DiagnosisOf(Trace trace) {
  const auto timeline = std::make_shared<const Timeline>(Timeline::Build(std::move(trace)));
  Report report = ReportOf(timeline);
  Diagnose(*timeline, TreatmentOf, report);
  return report;
}

int SettledAfter(const Timeline& timeline, int least) {
  const std::vector<double> means = BatchMeans(timeline);
  std::size_t best = 0;
  for (std::size_t cut = 1; cut <= means.size() / 2; ++cut) {
    if (Error2(means, cut) < Error2(means, best)) best = cut;
  }
  return std::max(least, static_cast<int>(best * kBatch));
}

Result<Report> ReportFrom(const fs::path& input) {
  std::error_code error;
  if (!fs::exists(input, error)) {
    return Error{"no such file or folder", input, "name a run folder, a .cap file or a report's JSON"};
  }
  if (fs::is_directory(input, error)) {
    const fs::path finished = input / "report.json";
    if (fs::exists(finished, error) && !HoldsCapture(input)) return FromJson(finished);
  } else if (input.extension() == ".json") {
    return FromJson(input);
  }
  auto trace = ReadAnyTrace(input);
  if (!trace) return trace.error();
  Report report = DiagnosisOf(std::move(*trace));
  report.output_directory = fs::is_directory(input, error) ? input : input.parent_path();
  return report;
}

}  // namespace loopscope
