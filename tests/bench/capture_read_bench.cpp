// How fast a capture is read and put in order: 5 million ops as a training program leaves them.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "profiler/core/timeline.h"
#include "profiler/importers/importers.h"
#include "tests/support/capture_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kLayers = 50;  // of 5 forward and 5 backward ops each
constexpr std::int64_t kOps = 5'000'000;

void AddForward(test::CaptureBuilder& capture, std::uint64_t& now, std::uint32_t& sequence) {
  const std::uint64_t start = now;
  capture.Op("aten::_convolution", start + 300, start + 4000);
  capture.Op("aten::convolution", start + 100, start + 4100, wire::kOpGraph | wire::kOpGradMode, sequence);
  capture.Op("aten::conv2d", start, start + 4200, wire::kOpGraph | wire::kOpOutermost, sequence++);
  capture.Op("aten::native_batch_norm", start + 4400, start + 5400, wire::kOpGraph, sequence);
  capture.Op("aten::batch_norm", start + 4300, start + 5500, wire::kOpGraph | wire::kOpOutermost, sequence++);
  now = start + 6000;
}

void AddBackward(test::CaptureBuilder& capture, std::uint64_t& now) {
  const std::uint64_t start = now;
  capture.Op("aten::convolution_backward", start + 300, start + 7000);
  capture.Op("ConvolutionBackward0", start + 100, start + 7100, 0, wire::kNoSequence, 1);
  capture.Op("autograd::engine::evaluate_function: ConvolutionBackward0", start, start + 7200);
  capture.Op("aten::add_", start + 7400, start + 7900);
  capture.Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", start + 7300, start + 8000);
  now = start + 8100;
}

void AddStep(test::CaptureBuilder& capture, std::uint64_t& now, std::uint32_t& sequence) {
  capture.Range(wire::RangeCategory::kLoader, "RandomSampler", now, now + 2000, 32);
  now += 500'000;
  for (int layer = 0; layer < kLayers; ++layer) AddForward(capture, now, sequence);
  const std::uint64_t backward = now;
  for (int layer = 0; layer < kLayers; ++layer) AddBackward(capture, now);
  capture.Range(wire::RangeCategory::kBackward, "backward", backward, now);
  capture.Range(wire::RangeCategory::kOptimizer, "SGD", now, now + 300'000, 2 * kLayers);
  now += 301'000;
  capture.Mark(wire::MarkKind::kStepEnd, "optimizer:SGD#1", now, 32);
}

// Made once, gone with the process.
class Capture {
 public:
  Capture() : path_(fs::temp_directory_path() / ("capture_read_bench_" + std::to_string(getpid()) + ".cap")) {
    test::CaptureBuilder capture(wire::kChunkBytes);
    std::uint64_t now = 1'000'000'000;
    std::uint32_t sequence = 0;
    for (std::int64_t ops = 0; ops < kOps; ops += 10 * kLayers) AddStep(capture, now, sequence);
    capture.Save(path_);
  }
  ~Capture() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const fs::path& CapturePath() {
  static const Capture capture;
  return capture.path();
}

Trace ReadOrStop() {
  Result<Trace> trace = ReadAnyTrace(CapturePath());
  if (trace) return std::move(*trace);
  std::fprintf(stderr, "%s\n", trace.error().Message().c_str());
  std::exit(1);
}

void CountEvents(benchmark::State& state, const Trace& trace) {
  const auto events = static_cast<double>(trace.quality.events);
  state.counters["events"] = events;
  state.counters["events_per_s"] =
      benchmark::Counter(events, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["bytes_per_event"] = static_cast<double>(fs::file_size(CapturePath())) / events;
}

void ReadCapture(benchmark::State& state) {
  CapturePath();
  Trace trace;
  for (auto _ : state) trace = ReadOrStop();
  CountEvents(state, trace);
}
BENCHMARK(ReadCapture)->Unit(benchmark::kMillisecond)->UseRealTime();

void ReadCaptureAndBuildTimeline(benchmark::State& state) {
  CapturePath();
  Timeline timeline = Timeline::Build({});
  for (auto _ : state) timeline = Timeline::Build(ReadOrStop());
  if (timeline.steady().empty()) state.SkipWithError("no steady step was found");
  CountEvents(state, timeline.trace());
}
BENCHMARK(ReadCaptureAndBuildTimeline)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace loopscope
