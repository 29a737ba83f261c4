#include "probes/torch/training.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/sum.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>
#include <torch/optim/optimizer.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "probes/torch/api.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

constexpr std::size_t kHeld = 64;

struct Losses {
  std::mutex lock;
  std::vector<at::Tensor> held;
};

// Never destroyed: written at the program's very end.
Losses& Kept() {
  static Losses* losses = new Losses;
  return *losses;
}

void WriteHeld(std::vector<at::Tensor>& held) {
  for (const at::Tensor& loss : held) {
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kLoss), "",
              std::bit_cast<std::uint64_t>(loss.item().toDouble()));
  }
  held.clear();
}

}  // namespace

void KeepLoss(const void* roots) {
  const c10::NoGradGuard no_grad;
  for (const at::Tensor& root : *static_cast<const std::vector<at::Tensor>*>(roots)) {
    if (!root.defined()) continue;
    at::Tensor loss = root.detach();
    loss = loss.numel() == 1 ? loss.clone() : loss.sum();
    const std::lock_guard guard(Kept().lock);
    Kept().held.push_back(std::move(loss));
    if (Kept().held.size() >= kHeld) WriteHeld(Kept().held);
  }
}

void WriteLosses() {
  const c10::NoGradGuard no_grad;
  const std::lock_guard guard(Kept().lock);
  WriteHeld(Kept().held);
}

namespace {

constexpr int kUnknown = -1;
std::atomic<int> trained{kUnknown};  // a c10::DeviceType

}  // namespace

std::uint64_t ParametersOf(const void* optimizer) noexcept {
  std::uint64_t count = 0;
  for (const auto& group : static_cast<const torch::optim::Optimizer*>(optimizer)->param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.defined()) continue;
      if (count == 0) trained.store(static_cast<int>(parameter.device().type()), std::memory_order_relaxed);
      count += static_cast<std::uint64_t>(parameter.numel());
    }
  }
  return count;
}

std::optional<c10::DeviceType> TrainedDevice() noexcept {
  const int device = trained.load(std::memory_order_relaxed);
  return device == kUnknown ? std::nullopt : std::optional(static_cast<c10::DeviceType>(device));
}

namespace {

constexpr unsigned kMostTries = 64;  // steps: a program that trains on a GPU has loaded it by then

const DeviceMemoryHooks* hooks = nullptr;

bool CudaSideIsLoaded() noexcept {
  void* library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

// It lies beside this library, and stays loaded.
const DeviceMemoryHooks* Load() noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&NoteDeviceMemory), &here) == 0) return nullptr;
  const char* slash = std::strrchr(here.dli_fname, '/');
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%.*slibloopscope_torch_cuda.so",
                slash != nullptr ? static_cast<int>(slash - here.dli_fname + 1) : 0, here.dli_fname);
  if (access(path, R_OK) != 0) return nullptr;  // built without CUDA's headers
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    char text[1024];
    std::snprintf(text, sizeof text, "device memory is not recorded: %s", dlerror());
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text, 0);
    return nullptr;
  }
  auto* attach =
      reinterpret_cast<decltype(&loopscope_torch_cuda_attach)>(dlsym(library, "loopscope_torch_cuda_attach"));
  return attach != nullptr ? attach(api) : nullptr;
}

}  // namespace

bool NoteDeviceMemory() noexcept {
  static unsigned tries = 0;
  if (hooks == nullptr && tries < kMostTries) {
    ++tries;
    if (CudaSideIsLoaded()) {
      tries = kMostTries;
      hooks = Load();
    }
  }
  if (hooks != nullptr && api->tracing) hooks->step_ended();
  return tries < kMostTries || (hooks != nullptr && api->tracing);
}

void WriteDeviceMemoryTotals() noexcept {
  if (hooks != nullptr) hooks->finish();
}

}  // namespace loopscope
