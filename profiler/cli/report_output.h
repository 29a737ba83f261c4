// Writes a report to the places that the command line names.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/cli/options.h"
#include "profiler/core/format.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"

namespace loopscope {

// Checks before a long run that all that the command line names can be written to (write_file.h): not the program's
// own files, no file twice. Keeps FIFOs open until this process ends. Error (exit 2).
Result<void> CheckFiles(const Options& options);

// Checks that every requested format has a place for a report of that kind. Error (exit 2).
Result<void> CheckCarries(const Options& options, ReportKind kind);

// Whether a finding has the severity of --fail-on or more. Names it on standard error.
bool MeetsFailOn(const Report& report, const Options& options);

// Prints it in --format, writes --json and the other formats' files, and report.json into `folder` unless that is
// empty. Error (exit 2): a file cannot be written; what could be is.
Result<void> WriteReport(const Report& report, const Options& options, const std::filesystem::path& folder);

}  // namespace loopscope
