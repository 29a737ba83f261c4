// The only file that includes gloo's headers. The wheel has none: Debian's compile against the gloo inside it.
#define USE_C10D_GLOO
#include "workloads/common/ranks/rank_group.h"

#include <cstdlib>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "workloads/common/device_module.h"
#include "workloads/common/ranks/nccl.h"

namespace loopscope::train {
namespace {

using c10::intrusive_ptr;
using c10::make_intrusive;

intrusive_ptr<c10d::Store> MakeStore(const Ranks& ranks, std::chrono::milliseconds timeout) {
  if (!ranks.store.empty()) {
    auto store = make_intrusive<c10d::FileStore>(ranks.store.string(), ranks.size);
    store->setTimeout(timeout);
    return store;
  }
  if (!ranks.several()) return make_intrusive<c10d::HashStore>();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(ranks.port);
  options.isServer = ranks.serves;
  options.numWorkers = static_cast<std::size_t>(ranks.size);
  options.waitWorkers = false;
  options.timeout = timeout;
  auto store = make_intrusive<c10d::TCPStore>(ranks.host, options);
  return make_intrusive<c10d::PrefixStore>("train/" + ranks.prefix, store);
}

std::shared_ptr<::gloo::transport::Device> MakeDevice(const Ranks& ranks) {
  using Gloo = c10d::ProcessGroupGloo;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) return Gloo::createDeviceForInterface(interface);
  const bool local = !ranks.store.empty() || ranks.host == "127.0.0.1" || ranks.host == "localhost";
  return local ? Gloo::createDeviceForHostname("127.0.0.1") : Gloo::createDefaultDevice();
}

intrusive_ptr<c10d::Backend> MakeNccl(const intrusive_ptr<c10d::Store>& store, const Ranks& ranks,
                                      std::chrono::seconds timeout) {
  intrusive_ptr<c10d::Backend> made;
  const auto make =
      reinterpret_cast<MakeNcclBackend>(OpenDeviceModule("ddp.backend=nccl", kNcclModule, kMakeNcclBackend));
  make(make_intrusive<c10d::PrefixStore>("nccl", store), ranks.rank, ranks.size, timeout, made);
  return made;
}

}  // namespace

RankGroup::RankGroup(const Ranks& ranks, std::chrono::seconds timeout, bool nccl) : ranks_(ranks) {
  const auto store = MakeStore(ranks, timeout);
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(MakeDevice(ranks));
  const auto backend = make_intrusive<c10d::ProcessGroupGloo>(store, ranks.rank, ranks.size, options);
  group_ = make_intrusive<c10d::ProcessGroup>(store, ranks.rank, ranks.size);
  group_->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, backend);
  group_->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  if (nccl) {
    on_gpus_ = MakeNccl(store, ranks, timeout);
    group_->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::NCCL, on_gpus_);
  } else {
    group_->setBackend(c10::DeviceType::CUDA, c10d::ProcessGroup::BackendType::GLOO, backend);
  }
}

RankGroup::~RankGroup() {
  if (on_gpus_) on_gpus_->shutdown();
}

void RankGroup::Broadcast(const torch::Tensor& tensor) {
  std::vector<torch::Tensor> tensors = {tensor};
  group_->broadcast(tensors)->wait();
}

void RankGroup::Sum(const torch::Tensor& tensor) {
  std::vector<torch::Tensor> tensors = {tensor};
  group_->allreduce(tensors)->wait();
}

void RankGroup::Barrier() {
  // gloo's own barrier does not say who is missing; a sum does the same work.
  Sum(torch::zeros({}));
}

}  // namespace loopscope::train
