// The module for cuda_graphs=on: a DeviceGraph made of torch's CUDA graph. Only this file needs CUDA's headers.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>

#include "workloads/common/device_module.h"

namespace loopscope::train {
namespace {

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(c10::MempoolId_t pool) : pool_(pool) {}

  // The graph has its own memory: release what is cached for single calls first. Other threads' calls are allowed
  // meanwhile: loaders page-lock memory.
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
  // The error that stopped the work has usually ended the recording too, so ending it again may fail.
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
  return new CudaGraph(sharing != nullptr ? static_cast<CudaGraph*>(sharing)->pool() : c10::MempoolId_t{0, 0});
}
