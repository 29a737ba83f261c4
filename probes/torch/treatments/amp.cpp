// amp=bf16: one autocast scope per training forward, from the loader's batch to the begin of backward, on the device
// that holds the model. Never around backward or the optimizer, and with an empty weight cache at both ends: a cache
// that outlives an optimizer step freezes training silently.
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/GradMode.h>

#include <atomic>
#include <optional>

#include "probes/torch/applier.h"
#include "probes/torch/autocast.h"
#include "probes/torch/has_cuda.h"
#include "probes/torch/training.h"

namespace loopscope {
namespace {

std::atomic<std::uint64_t> scopes{0};
std::atomic<bool> already_on{false}, lacks_units{false}, elsewhere{false};

// The open scope on this thread, and the state that it replaced.
struct Scope {
  bool open = false;
  c10::DeviceType device{};
  c10::ScalarType dtype_before{};
};
thread_local Scope scope;

// Device of the optimizer's parameters. Unknown until its first step if there is a second device.
std::optional<c10::DeviceType> ModelsDevice() {
  if (const auto trained = TrainedDevice()) return trained;
  return CudaIsLoaded() ? std::nullopt : std::optional(at::kCPU);
}

// bfloat16 products fail below compute capability 8.0, and cuDNN's convolutions need it too.
bool Computes16Bit(c10::DeviceType device) {
  return device != at::kCUDA || !at::hasCUDA() || at::detail::getCUDAHooks().supportsBFloat16ConvolutionWithCuDNNv8();
}

void Open() {
  if (scope.open || !c10::GradMode::is_enabled()) return;
  const auto device = ModelsDevice();
  if (!device) return;
  if (*device != at::kCPU && *device != at::kCUDA) {
    elsewhere.store(true);
    return;
  }
  if (at::autocast::is_autocast_enabled(*device)) {
    already_on.store(true);
    return;
  }
  if (!Computes16Bit(*device)) {
    lacks_units.store(true);
    return;
  }
  scope = {true, *device, at::autocast::get_autocast_dtype(*device)};
  at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(*device, at::kBFloat16);
  at::autocast::set_autocast_enabled(*device, true);
}

void Close() {
  if (!scope.open) return;
  scope.open = false;
  at::autocast::set_autocast_enabled(scope.device, false);
  at::autocast::set_autocast_dtype(scope.device, scope.dtype_before);
  at::autocast::clear_cache();
}

std::string RefusalOfAmp(std::string_view value) {
  if (value == "fp16") return "fp16 needs gradients to be scaled, which only the program can do";
  return value == "bf16" ? "" : "amp is bf16";
}

std::string ReadAmp() {
  if (scopes.load() > 0) return "bf16";
  if (already_on.load()) return "autocast is already on";
  if (lacks_units.load()) return "this GPU has no bfloat16 units";
  if (elsewhere.load()) return "the model is neither on the CPU nor on a CUDA device";
  return "no LibTorch loader was seen before a backward pass";
}

void At(Moment moment, std::string_view) {
  if (moment == Moment::kBatchBegin) return Open();
  if (moment == Moment::kZeroGrad) return;  // usually comes between the batch and the forward
  if (moment == Moment::kBackwardBegin && scope.open) scopes.fetch_add(1);
  Close();
}

void WriteAmp(std::string_view) {}

std::uint64_t Times() {
  return scopes.load();
}

}  // namespace

extern const Applier kAmp{"amp", "forward, from the loader's batch to backward", RefusalOfAmp, ReadAmp, WriteAmp, At,
                          Times};

}  // namespace loopscope
