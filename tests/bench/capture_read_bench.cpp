// How fast a capture is read and put in order: 5 million ops as a training program leaves them.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"
#include "tests/bench/large_capture.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

Trace ReadOrStop() {
  Result<Trace> trace = ReadAnyTrace(LargeCapture());
  if (trace) return std::move(*trace);
  std::fprintf(stderr, "%s\n", trace.error().Message().c_str());
  std::exit(1);
}

void CountEvents(benchmark::State& state, const Trace& trace) {
  const auto events = static_cast<double>(trace.quality.events);
  state.counters["events"] = events;
  state.counters["events_per_s"] =
      benchmark::Counter(events, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["bytes_per_event"] = static_cast<double>(fs::file_size(LargeCapture())) / events;
}

void ReadCapture(benchmark::State& state) {
  LargeCapture();
  Trace trace;
  for (auto _ : state) trace = ReadOrStop();
  CountEvents(state, trace);
}
BENCHMARK(ReadCapture)->Unit(benchmark::kMillisecond)->UseRealTime();

void ReadCaptureAndBuildTimeline(benchmark::State& state) {
  LargeCapture();
  Timeline timeline = Timeline::Build({});
  for (auto _ : state) timeline = Timeline::Build(ReadOrStop());
  if (timeline.steady().empty()) state.SkipWithError("no steady step was found");
  CountEvents(state, timeline.trace());
}
BENCHMARK(ReadCaptureAndBuildTimeline)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace loopscope
