#include "profiler/diagnosis/rank_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "profiler/core/file_text.h"
#include "profiler/core/trace/facts.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/importers.h"
#include "profiler/importers/nsys.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator one(folder, error), end; !error && one != end; one.increment(error)) {
    entries.push_back(one->path());
  }
  std::ranges::sort(entries);
  return entries;
}

bool HoldsCaptures(const fs::path& folder) {
  return std::ranges::any_of(EntriesOf(folder), [](const fs::path& one) { return one.extension() == ".cap"; });
}

// By its first bytes: a report and a run.json are JSON too, and as long as a trace's head.
bool MayBeTrace(const fs::path& file) {
  std::error_code error;
  const std::string name = file.filename();
  if (name == kRunJsonName || name.ends_with(".part") || !fs::is_regular_file(file, error)) return false;
  const std::string head = FileHead(file, kHeadBytes).value_or("");
  if (head.find("\"loopscope.") != head.npos) return false;
  return NsysReportFile(file) ||
         std::ranges::any_of(AllImporters(), [&](const Importer* one) { return one->sniff(head); });
}

}  // namespace

std::vector<Input> RankInputs(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  std::vector<Input> inputs;
  const std::vector<fs::path> entries = EntriesOf(folder);
  for (const fs::path& entry : entries) {
    if (MayBeTrace(entry)) inputs.push_back({entry});
  }
  if (!inputs.empty()) return inputs;
  for (const fs::path& entry : entries) {
    if (fs::is_directory(entry, error) && HoldsCaptures(entry)) inputs.push_back({entry});
  }
  return inputs;
}

std::vector<Input> RankInputsOf(const Trace& trace, const fs::path& file) {
  std::vector<Input> inputs;
  const std::string_view pids = FactOf(trace, "trace.processes");
  std::istringstream names{std::string(FactOf(trace, "trace.process_names"))};
  for (const char* at = pids.data(); at < pids.data() + pids.size(); ++at) {
    std::uint32_t pid = 0;
    std::string name;
    std::getline(names, name);
    at = std::from_chars(at, pids.data() + pids.size(), pid).ptr;
    if (pid != 0) inputs.push_back({file, pid, std::move(name)});
  }
  return inputs;
}

std::string FolderOf(const fs::path& input) {
  std::error_code error;
  return fs::is_directory(input, error) ? input : input.parent_path();
}

Error InFile(const fs::path& file, Error error) {
  error.where = file.native() + (error.where.empty() ? "" : ": " + error.where);
  return error;
}

Error MissingInput(const fs::path& input) {
  return {"no such file or folder", input, "name a run folder, a trace or a report's JSON"};
}

// Where the trace lies that stands for a folder with at most one.
fs::path OnlyTrace(const fs::path& input, const std::vector<Input>& ranks) {
  std::error_code error;
  const bool inside = fs::is_directory(input, error) && ranks.size() == 1 && !HoldsCaptures(input);
  return inside ? ranks.front().path : input;
}

Result<std::vector<Input>> TraceInputs(const fs::path& input) {
  std::error_code error;
  if (!fs::exists(input, error)) return MissingInput(input);
  std::vector<Input> ranks = RankInputs(input);
  if (ranks.size() > 1) return ranks;
  const fs::path only = OnlyTrace(input, ranks);
  auto trace = ReadAnyTrace(only);
  if (!trace) return trace.error();
  std::vector<Input> processes = RankInputsOf(*trace, only);
  return processes.size() > 1 ? processes : std::vector{Input{only}};
}

std::string InputText(const Input& input) {
  if (!input.process_name.empty()) return input.path.string() + ", " + input.process_name;
  return input.process ? fmt::format("{}, pid {}", input.path.string(), input.process) : input.path.string();
}

}  // namespace loopscope
