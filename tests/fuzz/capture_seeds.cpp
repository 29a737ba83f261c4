// Writes the captures that fuzzing starts from into the folder named: `capture_seeds FOLDER`. Chunks are left open, so
// that changed bytes get past the check sum.
#include <cstdio>
#include <filesystem>

#include "tests/support/capture_builder.h"

namespace {

using namespace loopscope;

void AddSteps(test::CaptureBuilder& capture, int steps) {
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t at = 1'000'000 + 1000 * static_cast<std::uint64_t>(i);
    capture.Range(wire::RangeCategory::kWait, "", at, at + 30, 0);
    capture.Range(wire::RangeCategory::kLoader, "RandomSampler", at + 40, at + 50, 32);
    capture.Op("aten::conv2d", at + 100, at + 400, wire::kOpGraph, static_cast<std::uint32_t>(i));
    capture.Range(wire::RangeCategory::kBackward, "backward", at + 400, at + 800);
    capture.Range(wire::RangeCategory::kOptimizer, "SGD", at + 850, at + 950, 12);
    capture.Step("optimizer:SGD#1", at + 960, 32, wire::kStepSummed | wire::kStepOperators, {10, 300, 400, 100});
  }
}

test::CaptureBuilder OneOfEachRecord() {
  test::CaptureBuilder capture;
  capture.Fact("loader.workers", "2");
  capture.Applied("threads", "OpenMP", "2", "1");
  capture.Module("/nowhere/train", 0x1000, 0x9000, 0);
  const std::uint32_t stack = capture.Stack({0x1234, capture.String("/a/t.py:1:f") | wire::kFrameIsText});
  capture.Op("aten::linear", 100, 200, wire::kOpGraph, 1);
  capture.Detail("f32[2,3]!;-;true", stack, 0);
  capture.Range(wire::RangeCategory::kEvaluation, "", 300, 400, 0, stack);
  capture.TensorPeak(250, 9'000'000);
  capture.Tensor(4'000'000, 110, 150, 0, 100);
  capture.Tensor(2'000'000, 120, 160, 300, 101);
  for (std::uint8_t kind = 1; kind <= 16; ++kind) {
    capture.Mark(static_cast<wire::MarkKind>(kind), "mark", 500 + kind, kind);
  }
  return capture;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: capture_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  test::CaptureBuilder steps, threads;
  AddSteps(steps, 6);
  AddSteps(threads, 4);
  threads.On(100, 101);
  threads.Op("autograd::engine::evaluate_function: MmBackward0", 1'000'500, 1'000'600);
  OneOfEachRecord().Save(folder / "records.cap");
  steps.Save(folder / "steps.cap");
  threads.Save(folder / "threads.cap");
  return 0;
}
