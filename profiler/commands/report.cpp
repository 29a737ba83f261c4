#include <fmt/format.h>

#include "profiler/cli/command.h"
#include "profiler/cli/experiment_options.h"
#include "profiler/cli/option_parsers.h"
#include "profiler/cli/report_output.h"
#include "profiler/core/printable.h"
#include "profiler/core/write_file.h"
#include "profiler/diagnosis/report_from.h"
#include "profiler/diagnosis/summaries.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

void AddReportOptions(CLI::App& app, Options& options) {
  AddFailOn(app, options);
  Last(app.add_option("--definitions", options.definitions,
                      "how the GPU's figures are defined: by Loopscope, or by Holistic Trace Analysis"),
       "loopscope|hta");
  AddPlace(app, "--summary", options.summary, "FILE",
           "instead of a report, write a summary of each rank to FILE, for --reduce");
  app.add_flag("--reduce", options.reduce,
               "one report of the ranks whose summaries these are, or lie in these folders");
}

Result<void> CheckReport(const Command& command, Options& options) {
  if (options.inputs.empty()) return WrongUsage(command, "nothing to report on", std::string("name ") + kInputsText);
  if (options.summary.empty()) return {};
  if (options.reduce) return WrongUsage(command, "--summary and --reduce", "write summaries first, then reduce them");
  if (!options.json.empty() || !options.files.empty() || options.format != "text") {
    return WrongUsage(command, "--summary writes no report", "leave out the formats, or --summary");
  }
  return {};
}

// `--definitions`: "loopscope" leaves the report as it is; "hta" gives its `gpu` by the definitions of Holistic Trace
// Analysis. Error (exit 2): another name, or a report whose trace is not available.
Result<void> ApplyDefinitions(const std::string& definitions, Report& report) {
  if (definitions == "loopscope") return {};
  if (definitions != "hta") {
    return Error{"unknown definitions `" + definitions + "`", "--definitions", "choose one of: loopscope, hta"};
  }
  if (!report.timeline) {
    return Error{"a finished report's figures cannot be given by other definitions", "--definitions hta",
                 "name the trace itself"};
  }
  report.gpu = GpuFactsByHta(*report.timeline);
  return {};
}

// Readable inputs are reported; the first unreadable one gives the exit code.
Result<int> WriteSummaries(const Options& options) {
  const Summaries summaries = SummariesOf(options.inputs);
  if (summaries.ranks == 0) return summaries.errors.front();
  if (const auto written = WriteOutputFile(options.summary, summaries.lines); !written) return written.error();
  for (const Error& error : summaries.errors) Say("loopscope: " + error.Message());
  return summaries.errors.empty() ? 0 : summaries.errors.front().exit_code;
}

Result<int> ReportReduced(const Options& options) {
  auto report = ReportOfSummaries(options.inputs);
  Result<void> written = report ? CheckCarries(options, KindOf(*report)) : report.error();
  if (written) written = ApplyDefinitions(options.definitions, *report);
  if (written) written = WriteReport(*report, options, "");
  if (!written) return written.error();
  return MeetsFailOn(*report, options) ? 1 : 0;
}

// Every input is tried; the first that fails gives the exit code, else --fail-on.
Result<int> ReportCommand(const Options& options) {
  if (!options.summary.empty()) return WriteSummaries(options);
  if (options.reduce) return ReportReduced(options);
  if ((!options.json.empty() || !options.files.empty()) && options.inputs.size() > 1) {
    const std::string id = options.json.empty() ? options.files.begin()->first : "json";
    return Error{"--" + id + " takes one report, and there are several inputs", "report", "name one input"};
  }
  Result<int> code = 0;
  for (const std::string& input : options.inputs) {
    if (options.inputs.size() > 1 && options.format == "text") Write(stdout, Printable(input) + "\n\n");
    auto report = ReportFrom(input);
    if (report && (options.format == "html" || options.files.contains("html"))) AddTimeline(input, *report);
    Result<void> written = report ? CheckCarries(options, KindOf(*report)) : report.error();
    if (written) written = ApplyDefinitions(options.definitions, *report);
    if (written) written = WriteReport(*report, options, "");
    if (written && code && MeetsFailOn(*report, options)) code = 1;
    if (written) continue;
    if (!code) Say("loopscope: " + written.error().Message());
    if (code) code = written.error();
  }
  return code;
}

}  // namespace

extern const Command kReportCommand{.id = "report",
                                    .summary = "The report of runs that are there already.",
                                    .usage = "report [options] INPUT…",
                                    .example = "loopscope report loopscope-out/20250131-093000",
                                    .takes = kTakesFormats,
                                    .inputs = kAnyInputs,
                                    .add = AddReportOptions,
                                    .check = CheckReport,
                                    .run = ReportCommand};

}  // namespace loopscope
