#include "profiler/cli/report_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <system_error>

#include "profiler/core/write_file.h"
#include "profiler/system/terminal.h"
#include "reports/formats.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

Result<void> WriteFolder(const Output& output, const fs::path& folder) {
  if (const int error = MakePrivateFolder(folder); error != 0) {
    return Error{std::strerror(error), folder, "name a folder that can be written to"};
  }
  for (const OutputFile& file : output.files) {
    if (const auto written = WriteOutputFile(folder / file.name, file.bytes); !written) return written;
  }
  return {};
}

Result<void> WriteAs(const std::string& format, const Report& report, const fs::path& place) {
  Output output;
  const Format& chosen = *FindFormat(format);
  if (const auto made = chosen.write(report, output); !made) return made;
  return chosen.folder ? WriteFolder(output, place) : WriteOutputFile(place, output.bytes);
}

// The folder of the run is our own: a link that the program put there is not followed.
Result<void> WriteIntoFolder(const Report& report, const fs::path& file) {
  Output output;
  if (const auto made = FindFormat("json")->write(report, output); !made) return made;
  const int error = WritePrivateFile(file, output.bytes);
  if (error != 0) return Error{std::strerror(error), file, "name another folder with -o DIR"};
  return {};
}

// A format that is a folder cannot be printed: it goes to its own option's place, else to a folder named after it.
Result<void> WriteNamedFolder(const Report& report, const Options& options) {
  const auto asked = options.files.find(options.format);
  const fs::path place =
      asked == options.files.end() ? fs::path("loopscope-" + options.format) : fs::path(asked->second);
  if (asked == options.files.end()) {
    if (const auto written = WriteAs(options.format, report, place); !written) return written;
  }
  Write(stdout, place.native() + "\n");
  return {};
}

// The files of all requested formats, by format.
std::map<std::string, std::string> Formats(const Options& options) {
  std::map<std::string, std::string> files = options.files;
  if (!options.json.empty()) files["json"] = options.json;
  return files;
}

Result<void> CanBeWritten(const Format& format) {
  return format.check != nullptr ? format.check() : Result<void>();
}

struct Named {
  std::string option;
  fs::path file;
  std::string Text() const { return option + " " + file.native(); }
};

// It is made when it is written, with the folders above it.
Result<void> CheckFolder(const Named& named) {
  std::error_code error;
  fs::path there = fs::absolute(named.file, error);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error)) return Error{there.native() + " is not a folder", named.Text(), "name a folder"};
  if (access(there.c_str(), W_OK | X_OK) == 0) return {};
  return Error{"cannot write into " + there.native(), named.Text(), "name a place that can be written to"};
}

// By whatever name: another link of a file is written in place.
bool IsSameFile(const std::string& word, const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(word, error) && fs::equivalent(word, file, error);
}

// A missing value (`--json -- train.py`) must not overwrite the program.
bool IsOfProgram(const fs::path& file, const Options& options) {
  const auto same = [&](const std::string& word) { return IsSameFile(word, file); };
  return std::ranges::any_of(options.program, same) || std::ranges::any_of(options.program_a, same);
}

// An existing file in the folder that is not a report (report.json).
bool IsRecorded(const std::string& folder, const fs::path& file) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || !fs::is_regular_file(file, error) || file.stem() == "report") return false;
  const fs::path outer = fs::canonical(folder, error), inner = fs::canonical(file, error);
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

// What a report is made of.
bool IsOfInput(const fs::path& file, const Options& options) {
  return std::ranges::any_of(
      options.inputs, [&](const std::string& input) { return IsSameFile(input, file) || IsRecorded(input, file); });
}

}  // namespace

Result<void> CheckFiles(const Options& options) {
  std::vector<Named> files;
  // Without a launch, an existing report is written as far as possible.
  const bool launches = !options.program.empty();
  if (const auto can = CanBeWritten(*FindFormat(options.format)); launches && !can) return can;
  for (const auto& [format, file] : Formats(options)) {
    const Format& chosen = *FindFormat(format);
    if (const auto can = CanBeWritten(chosen); launches && !can) return can;
    if (chosen.folder) {
      if (const auto checked = CheckFolder({"--" + format, file}); !checked) return checked;
    } else {
      files.push_back({"--" + format, file});
    }
  }
  if (!options.summary.empty()) files.push_back({"--summary", options.summary});
  if (!options.history.html.empty()) files.push_back({"--html", options.history.html});
  if (options.gate.accept) files.push_back({"--baseline", options.gate.baseline});
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto same = [&](const Named& other) { return SameOutputFile(other.file, files[i].file); };
    const auto first = std::ranges::find_if(files, same);
    const Named& one = files[i];
    if (first != files.begin() + static_cast<std::ptrdiff_t>(i) && first != files.end()) {
      return Error{"is what " + first->option + " names too", one.Text(), "name another file"};
    }
    if (IsOfProgram(one.file, options)) {
      return Error{"is a file of the program", one.Text(), "name another file: this one would be replaced"};
    }
    if (IsOfInput(one.file, options)) {
      return Error{"is a file that the report is made of", one.Text(), "name another file: this one would be replaced"};
    }
    const auto checked = CheckOutputFile(one.file);
    if (!checked) return Error{checked.error().what, one.Text(), checked.error().next};
  }
  return {};
}

Result<void> CheckCarries(const Options& options, ReportKind kind) {
  std::vector<std::string> asked{options.format};
  for (const auto& [format, file] : options.files) asked.push_back(format);
  for (const std::string& id : asked) {
    if (FindFormat(id)->Carries(kind)) continue;
    std::vector<std::string_view> others;
    for (const Format* one : AllFormats()) {
      if (one->Carries(kind)) others.push_back(one->id);
    }
    return Error{fmt::format("the format `{}` has no place for {}", id, ReportKindName(kind)), options.command,
                 fmt::format("choose one of: {}", fmt::join(others, ", "))};
  }
  return {};
}

bool MeetsFailOn(const Report& report, const Options& options) {
  if (!options.fail_on) return false;
  for (const Finding& one : report.findings) {
    if (one.severity < *options.fail_on) continue;
    Say(fmt::format("loopscope: failed by --fail-on {}: {} ({}): {}", SeverityName(*options.fail_on), one.rule,
                    SeverityName(one.severity), one.title));
    return true;
  }
  return false;
}

Result<void> WriteReport(const Report& report, const Options& options, const fs::path& folder) {
  Result<void> result;
  if (!folder.empty()) result = WriteIntoFolder(report, folder / "report.json");
  for (const auto& [format, file] : Formats(options)) {
    if (auto written = WriteAs(format, report, file); !written) result = written;
  }
  if (FindFormat(options.format)->folder) {
    const auto written = WriteNamedFolder(report, options);
    return result ? written : result;
  }
  Output output = StandardOutput(options.no_color);
  if (const auto made = FindFormat(options.format)->write(report, output); !made) return made;
  Print(output);
  if (std::fflush(stdout) != 0 && errno != EPIPE) return Error{std::strerror(errno), "standard output", "free space"};
  return result;
}

}  // namespace loopscope
