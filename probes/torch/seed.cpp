// Gives LibTorch's default generators the seed of a launch.
#include <ATen/Context.h>

#include <cstdint>
#include <exception>
#include <mutex>

#include "probes/export.h"
#include "probes/torch/api.h"
#include "probes/torch/has_cuda.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

void Seed(std::uint64_t seed) {
  if (CudaIsLoaded()) return at::manual_seed(seed);
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace
}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT void loopscope_torch_seed(std::uint64_t seed) {
  using namespace loopscope;
  try {
    Seed(seed);
  } catch (const std::exception& error) {
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), error.what(), 0);
  }
}
