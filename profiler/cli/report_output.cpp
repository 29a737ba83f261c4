#include "profiler/cli/report_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

#include "profiler/core/private_file.h"
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
    if (const auto written = WriteWhole(folder / file.name, file.bytes); !written) return written;
  }
  return {};
}

Result<void> WriteAs(const std::string& format, const Report& report, const fs::path& place) {
  Output output;
  const Format& chosen = *FindFormat(format);
  if (const auto made = chosen.write(report, output); !made) return made;
  return chosen.folder ? WriteFolder(output, place) : WriteWhole(place, output.bytes);
}

// A format that is a folder cannot be printed: it goes to where its own option says, else to a folder named for it.
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

}  // namespace

Result<void> WriteWhole(const fs::path& file, const std::string& bytes) {
  const int error = WritePrivateFile(file, bytes);
  if (error != 0) return Error{std::strerror(error), file, "name a place that can be written to"};
  return {};
}

Result<void> CheckFiles(const Options& options) {
  std::map<std::string, std::string> files = options.files;
  if (!options.json.empty()) files["json"] = options.json;
  for (const auto& [format, file] : files) {
    if (FindFormat(format)->folder) continue;  // is created
    std::error_code error;
    const fs::path folder = fs::absolute(file, error).parent_path();
    const std::string place = "--" + format + " " + file;
    if (!fs::is_directory(folder, error)) return Error{"there is no folder " + folder.native(), place, "make it first"};
    if (fs::is_directory(file, error)) return Error{"is a folder", place, "name a file in it"};
    if (access(folder.c_str(), W_OK) != 0) {
      return Error{"cannot write into " + folder.native(), place, "name a place that can be written to"};
    }
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
  if (!folder.empty()) result = WriteAs("json", report, folder / "report.json");
  std::map<std::string, std::string> files = options.files;
  if (!options.json.empty()) files["json"] = options.json;
  for (const auto& [format, file] : files) {
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
