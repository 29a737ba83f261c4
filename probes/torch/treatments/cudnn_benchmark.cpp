// cudnn.benchmark=on|off: whether cuDNN times its convolution algorithms for each new shape.
#include <ATen/Context.h>

#include "probes/torch/applier.h"
#include "probes/torch/has_cuda.h"

namespace loopscope {
namespace {

std::string RefusalOfCudnnBenchmark(std::string_view value) {
  if (value != "on" && value != "off") return "cudnn.benchmark is on or off";
  return HasCuda() ? "" : "no CUDA device";
}
std::string ReadCudnnBenchmark() {
  return at::globalContext().benchmarkCuDNN() ? "on" : "off";
}
void WriteCudnnBenchmark(std::string_view value) {
  at::globalContext().setBenchmarkCuDNN(value == "on");
}

}  // namespace

extern const Applier kCudnnBenchmark{"cudnn.benchmark",
                                     "at::globalContext().benchmarkCuDNN",
                                     RefusalOfCudnnBenchmark,
                                     ReadCudnnBenchmark,
                                     WriteCudnnBenchmark,
                                     nullptr,
                                     nullptr};

}  // namespace loopscope
