#include "tests/bench/large_capture.h"

#include <unistd.h>

#include <string>

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

}  // namespace

const fs::path& LargeCapture() {
  static const Capture capture;
  return capture.path();
}

}  // namespace loopscope
