#include "workloads/common/device.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libtorch_cuda.so";
constexpr const char* kLocalRanks[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                       "MPI_LOCALRANKID", "SLURM_LOCALID"};

[[noreturn]] void Fail(const std::string& why) {
  throw UsageError(fmt::format("--device cuda: {}: train with --device cpu, or where torch sees an NVIDIA GPU", why));
}

// Torch's messages continue with advice and addresses.
std::string FirstLine(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.substr(0, line.find(". "));
}

// The folder of the libtorch_cpu that this process runs with: its CUDA part is of the same build.
fs::path TorchFolder() {
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  struct link_map* map = nullptr;
  if (torch == nullptr || dlinfo(torch, RTLD_DI_LINKMAP, &map) != 0)
    Fail("libtorch_cpu.so is not among the loaded libraries");
  return fs::path(map->l_name).parent_path();
}

// Its operators, allocators and hooks register themselves; it is never unloaded.
void LoadCuda() {
  const fs::path path = TorchFolder() / kLibrary;
  if (!fs::exists(path)) Fail(fmt::format("this torch has no {}", path.string()));
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) Fail(fmt::format("cannot load {}", dlerror()));
}

int LocalRank() {
  for (const char* name : kLocalRanks) {
    if (const char* text = std::getenv(name)) return std::max(0, std::atoi(text));
  }
  return 0;
}

// Number of ranks on this host, as a launcher of several hosts sets it.
int RanksHere(int all) {
  const char* text = std::getenv("LOCAL_WORLD_SIZE");
  return text != nullptr ? std::max(1, std::atoi(text)) : all;
}

c10::Device OpenCuda(bool several_ranks) {
  LoadCuda();
  try {
    at::globalContext().lazyInitDevice(at::kCUDA);
  } catch (const c10::Error& error) {
    Fail(FirstLine(error.what_without_backtrace()));
  }
  const int count = at::accelerator::deviceCount();
  if (!at::hasCUDA() || count < 1) Fail("torch sees no GPU");
  const c10::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(several_ranks ? LocalRank() % count : 0));
  at::accelerator::setDeviceIndex(device.index());
  return device;
}

}  // namespace

c10::Device OpenDevice(const CommonSettings& settings) {
  if (settings.device == "cpu") return at::kCPU;
  static const c10::Device device = OpenCuda(settings.ranks > 1);
  return device;
}

bool ExchangesByNccl(const CommonSettings& settings) {
  if (settings.device == "cpu" || settings.backend == "gloo") return false;
  const int ranks = RanksHere(settings.ranks), gpus = at::accelerator::deviceCount();
  if (settings.backend == "auto") return ranks > 1 && ranks <= gpus;
  if (ranks <= gpus) return true;
  throw UsageError(
      fmt::format("ddp.backend=nccl needs a GPU for each rank, and {} ranks share {} here: start fewer, "
                  "or use ddp.backend=gloo",
                  ranks, gpus));
}

Batch ToDevice(Batch batch, c10::Device device, bool non_blocking) {
  for (torch::Tensor* tensor : {&batch.inputs, &batch.labels, &batch.padding}) {
    if (tensor->defined()) *tensor = tensor->to(device, tensor->scalar_type(), non_blocking);
  }
  return batch;
}

}  // namespace loopscope::train
