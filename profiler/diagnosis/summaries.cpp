#include "profiler/diagnosis/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "profiler/core/file_text.h"
#include "profiler/core/host.h"
#include "profiler/core/parallel.h"
#include "profiler/core/timeline/timeline.h"
#include "profiler/diagnosis/diagnosis.h"
#include "profiler/diagnosis/rank_inputs.h"
#include "profiler/diagnosis/rank_report.h"
#include "profiler/importers/importers.h"
#include "reports/json/rank_summary.h"
#include "reports/json/report_json.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr char kHowToWrite[] = "write summaries with `loopscope report --summary FILE TRACE`";

// What one of the inputs gave.
struct Summary {
  RankSummary rank;
  std::string lines;
  std::optional<Error> error;
};

Summary SummaryOf(const Input& input) {
  Result<Trace> trace = ReadAnyTrace(input.path, input.process);
  if (!trace) return {{}, "", trace.error()};
  auto timeline = std::make_shared<const Timeline>(Timeline::Build(std::move(*trace)));
  RankSummary rank = SummarizeRank(*timeline, InputText(input));
  Report own = DiagnosisOf(std::move(timeline));
  own.output_directory = FolderOf(input.path);
  DropOtherProcesses(own);
  std::string lines = SummaryLines(rank, own);
  return {std::move(rank), std::move(lines), std::nullopt};
}

// A folder may hold one rank and the processes that it started: one trace of all of them.
bool IsOneRank(const std::vector<Summary>& all) {
  std::vector<RankSummary> ranks;
  for (const Summary& one : all) {
    if (one.error) return false;
    ranks.push_back(one.rank);
  }
  const RankSelection selection = SelectRanks(std::move(ranks));
  return selection.ranks.size() < 2 && selection.warnings.empty();
}

std::vector<Summary> SummariesIn(const std::string& input) {
  Result<std::vector<Input>> found = TraceInputs(input);
  if (!found) return {{{}, "", found.error()}};
  std::vector<Summary> read(found->size());
  ParallelFor(found->size(), static_cast<std::size_t>(std::max(ThisHost().cores, 1)),
              [&](std::size_t i) { read[i] = SummaryOf((*found)[i]); });
  if (read.size() > 1 && IsOneRank(read)) return {SummaryOf({input})};
  return read;
}

// Reads the first line of each pair, and notes where the second lies.
class SummaryReader {
 public:
  void Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Fail(path, {"cannot be read", "", "check its permissions"});
    if (!IsSummary(path)) return Fail(path, {"not a file of ranks' summaries", "", kHowToWrite});
    int ranks = 0;
    for (std::string first, second; std::getline(file, first);) {
      const std::streamoff at = file.tellg();
      // The end of the second line is the last byte that is written of a rank.
      const bool whole = at >= 0 && std::getline(file, second) && !file.eof();
      if (!whole)
        return Fail(path, {fmt::format("is cut short after {} rank{}", ranks, ranks == 1 ? "" : "s"), "", kHowToWrite});
      Result<RankSummary> rank = ReadSummaryLine(first);
      if (!rank) return Fail(path, rank.error());
      reports_.try_emplace(rank->input, Report{path, at});
      ranks_.push_back(std::move(*rank));
      ++ranks;
    }
  }

  void Fail(const fs::path& path, Error error) { errors_.push_back(InFile(path, std::move(error))); }

  std::vector<RankSummary> TakeRanks() { return std::move(ranks_); }
  const std::vector<Error>& errors() const { return errors_; }

  Result<loopscope::Report> DiagnosisOf(const std::string& input) const {
    const Report& report = reports_.at(input);
    std::ifstream file(report.path, std::ios::binary);
    std::string line;
    if (!file.seekg(report.at) || !std::getline(file, line)) {
      return Error{"cannot be read any more", report.path, "keep the summaries until the report is there"};
    }
    auto read = ReadReportJson(line);
    return read ? std::move(read) : InFile(report.path, read.error());
  }

 private:
  struct Report {
    fs::path path;
    std::streamoff at = 0;
  };

  std::vector<RankSummary> ranks_;
  std::map<std::string, Report> reports_;
  std::vector<Error> errors_;
};

// The files of summaries in a folder, by name.
std::vector<fs::path> SummaryFilesIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error)) {
    if (IsSummary(one->path())) files.push_back(one->path());
  }
  std::ranges::sort(files);
  return files;
}

// Where all others trained nothing.
std::string OnlyRank(const std::vector<RankSummary>& ranks) {
  const auto trained = std::ranges::find_if(ranks, [](const RankSummary& one) { return one.steps > 0; });
  if (trained != ranks.end()) return trained->input;
  return ranks.empty() ? "" : ranks.front().input;
}

}  // namespace

Summaries SummariesOf(const std::vector<std::string>& inputs) {
  Summaries summaries;
  for (const std::string& input : inputs) {
    for (Summary& one : SummariesIn(input)) {
      if (one.error) summaries.errors.push_back(std::move(*one.error));
      summaries.ranks += !one.lines.empty();
      summaries.lines += one.lines;
    }
  }
  return summaries;
}

bool IsSummary(const fs::path& file) {
  const std::string head = FileHead(file, kHeadBytes).value_or("");
  return head.starts_with("{\"schema\":\"" + std::string(kSummarySchemaPrefix));
}

Result<Report> ReportOfSummaries(const std::vector<std::string>& inputs) {
  SummaryReader reader;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::exists(input, error)) {
      reader.Fail(input, {"no such file or folder", "", "name files of summaries, or a folder that holds some"});
    } else if (fs::is_directory(input, error)) {
      const std::vector<fs::path> files = SummaryFilesIn(input);
      if (files.empty()) reader.Fail(input, {"holds no summaries", "", kHowToWrite});
      for (const fs::path& file : files) reader.Read(file);
    } else {
      reader.Read(input);
    }
  }
  std::vector<RankSummary> ranks = reader.TakeRanks();
  const std::string only = OnlyRank(ranks);
  auto report = ReduceRanks(std::move(ranks), reader.errors(),
                            [&](const std::string& shown) { return reader.DiagnosisOf(shown); });
  if (!report) return report.error();
  if (*report) return std::move(**report);
  return reader.DiagnosisOf(only);
}

}  // namespace loopscope
