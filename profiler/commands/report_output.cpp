#include "profiler/commands/report_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "profiler/commands/terminal.h"
#include "reports/formats.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

Result<void> WriteAs(const std::string& format, const Report& report, const fs::path& file) {
  Output output;
  if (const auto made = FindFormat(format)->write(report, output); !made) return made;
  return WriteWhole(file, output.bytes);
}

}  // namespace

Result<void> WriteWhole(const fs::path& file, const std::string& bytes) {
  const auto failed = [&] { return Error{std::strerror(errno), file, "name a place that can be written to"}; };
  const std::string part = file.native() + ".part";
  std::FILE* const out = std::fopen(part.c_str(), "wb");
  if (!out) return failed();
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
  const bool closed = std::fclose(out) == 0;
  if (!whole || !closed || std::rename(part.c_str(), file.c_str()) != 0) {
    const Error error = failed();
    std::remove(part.c_str());
    return error;
  }
  return {};
}

Result<void> WriteReport(const Report& report, const Options& options, const fs::path& folder) {
  Result<void> result;
  if (!folder.empty()) result = WriteAs("json", report, folder / "report.json");
  std::map<std::string, std::string> files = options.files;
  if (!options.json.empty()) files["json"] = options.json;
  for (const auto& [format, file] : files) {
    if (auto written = WriteAs(format, report, file); !written) result = written;
  }
  Output output = StandardOutput(options.no_color);
  if (const auto made = FindFormat(options.format)->write(report, output); !made) return made;
  Print(output);
  if (std::fflush(stdout) != 0 && errno != EPIPE) return Error{std::strerror(errno), "standard output", "free space"};
  return result;
}

}  // namespace loopscope
