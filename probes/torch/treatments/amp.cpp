// amp=bf16: one autocast scope per training forward on the CPU, from the loader's batch to the begin of backward.
// Never around backward or the optimizer, and with an empty weight cache at both ends: a cache that outlives an
// optimizer step freezes training silently.
#include <ATen/Context.h>
#include <c10/core/GradMode.h>

#include <atomic>

#include "probes/torch/applier.h"
#include "probes/torch/autocast.h"

namespace loopscope {
namespace {

std::atomic<std::uint64_t> scopes{0};
std::atomic<bool> already_on{false};

// The scope that is open on this thread, and what it hides.
struct Scope {
  bool open = false;
  c10::ScalarType dtype_before{};
};
thread_local Scope scope;

void Open() {
  if (scope.open || !c10::GradMode::is_enabled()) return;
  if (at::autocast::is_autocast_enabled(at::kCPU)) {
    already_on.store(true);
    return;
  }
  scope = {true, at::autocast::get_autocast_dtype(at::kCPU)};
  at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
}

void Close() {
  if (!scope.open) return;
  scope.open = false;
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::set_autocast_dtype(at::kCPU, scope.dtype_before);
  at::autocast::clear_cache();
}

std::string Refusal(std::string_view value) {
  if (value == "fp16") return "fp16 needs a CUDA device and gradient scaling";
  return value == "bf16" ? "" : "amp is bf16";
}

std::string Read() {
  if (scopes.load() > 0) return "bf16";
  return already_on.load() ? "autocast is already on" : "no LibTorch loader was seen before a backward pass";
}

void At(Moment moment, std::string_view) {
  if (moment == Moment::kBatchBegin) return Open();
  if (moment == Moment::kZeroGrad) return;  // usually comes between the batch and the forward
  if (moment == Moment::kBackwardBegin && scope.open) scopes.fetch_add(1);
  Close();
}

void Write(std::string_view) {}

std::uint64_t Times() {
  return scopes.load();
}

}  // namespace

extern const Applier kAmp{"amp", "forward, from the loader's batch to backward", Refusal, Read, Write, At, Times};

}  // namespace loopscope
