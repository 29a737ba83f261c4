// The module behind cuda_graphs=on: a DeviceGraph that is a CUDA graph of torch's. It alone is built with CUDA's
// headers.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>

#include "workloads/common/device_graph.h"

namespace loopscope::train {
namespace {

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(c10::MempoolId_t pool) : pool_(pool) {}

  // The graph's memory is its own: what was kept for calls one by one is given back first. Calls that other threads
  // make meanwhile are their own affair: loaders page-lock memory.
  void Record(const Work& work) override {
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      Abandon();
      throw;
    }
    graph_.capture_end();
  }

  void Launch() override { graph_.replay(); }

  c10::MempoolId_t pool() { return graph_.pool(); }

 private:
  // What stopped the work has mostly ended the recording too: that it cannot be ended again is no news.
  void Abandon() noexcept {
    try {
      graph_.capture_end();
    } catch (const c10::Error&) {
    }
  }

  c10::MempoolId_t pool_;
  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace loopscope::train

extern "C" __attribute__((visibility("default"))) loopscope::train::DeviceGraph* train_make_device_graph(
    loopscope::train::DeviceGraph* sharing) {
  using loopscope::train::CudaGraph;
  return new CudaGraph(sharing ? static_cast<CudaGraph*>(sharing)->pool() : c10::MempoolId_t{0, 0});
}
