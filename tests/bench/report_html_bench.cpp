// How fast the page of a capture of 5 million ops is made, from the file to the page's bytes and of these the page
// alone. Budget: 3 s for the whole.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "profiler/diagnosis/report_from.h"
#include "reports/formats.h"
#include "tests/bench/large_capture.h"

namespace loopscope {
namespace {

Report ReportOrStop() {
  Result<Report> report = ReportFrom(LargeCapture());
  if (report) return std::move(*report);
  std::fprintf(stderr, "%s\n", report.error().Message().c_str());
  std::exit(1);
}

void WritePage(const Report& report, benchmark::State& state) {
  Output output;
  if (!FindFormat("html")->write(report, output) || !report.timeline) state.SkipWithError("no page was written");
  state.counters["page_bytes"] = static_cast<double>(output.bytes.size());
}

void CaptureToPage(benchmark::State& state) {
  LargeCapture();
  for (auto _ : state) WritePage(ReportOrStop(), state);
}
BENCHMARK(CaptureToPage)->Unit(benchmark::kMillisecond)->UseRealTime();

void PageOfReport(benchmark::State& state) {
  const Report report = ReportOrStop();
  for (auto _ : state) WritePage(report, state);
}
BENCHMARK(PageOfReport)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace loopscope
