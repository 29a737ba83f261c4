#include "probes/torch/peaks.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "probes/torch/api.h"
#include "probes/torch/own_work.h"

namespace loopscope {
namespace {

struct Type {
  at::ScalarType type;
  const char* name;  // as in wire::OpDetailRecord
};
constexpr std::array<Type, 4> kTypes{
    {{at::kFloat, "f32"}, {at::kBFloat16, "bf16"}, {at::kHalf, "f16"}, {at::kDouble, "f64"}}};
constexpr std::array<std::int64_t, 3> kSides{128, 512, 1024};  // of square matrices
constexpr std::array<std::int64_t, 3> kCopyBytes{256 << 10, 4 << 20,
                                                 64 << 20};  // in a core's cache, in any, in neither
constexpr std::uint64_t kEachNs = 40'000'000;                // for one type and size
constexpr int kFewest = 3;                                   // the first one prepares kernels

std::atomic<unsigned> seen_types{0};  // by place in kTypes
std::atomic<bool> seen_device{false};

// The best of some: others are held up.
std::uint64_t BestNs(const auto& run) {
  std::uint64_t best = UINT64_MAX;
  const std::uint64_t end_ns = api->now_ns() + kEachNs;
  for (int i = 0; i < kFewest || api->now_ns() < end_ns; ++i) {
    const std::uint64_t begin_ns = api->now_ns();
    run();
    const std::uint64_t taken_ns = api->now_ns() - begin_ns;
    if (i > 0) best = std::min(best, std::max<std::uint64_t>(taken_ns, 1));
  }
  return best;
}

void WritePeak(const std::string& key, double work, std::uint64_t ns) {
  api->fact(key.c_str(), std::to_string(static_cast<std::int64_t>(work / static_cast<double>(ns) * 1e3)).c_str());
}

void MeasureProducts(const Type& type) {
  for (const std::int64_t side : kSides) {
    const at::Tensor a = at::ones({side, side}, type.type), b = at::ones({side, side}, type.type);
    const std::uint64_t ns = BestNs([&] { at::mm(a, b); });
    const auto n = static_cast<double>(side);
    WritePeak(std::string("peak.product.") + type.name + "." + std::to_string(side), 2 * n * n * n, ns);
  }
}

void MeasureCopies() {
  for (const std::int64_t bytes : kCopyBytes) {
    const at::Tensor from = at::ones({bytes / 4}, at::kFloat);
    at::Tensor to = at::empty({bytes / 4}, at::kFloat);
    const std::uint64_t ns = BestNs([&] { to.copy_(from); });
    WritePeak("peak.copy." + std::to_string(bytes), 2 * static_cast<double>(bytes), ns);
  }
}

}  // namespace

void NoteProductType(const at::RecordFunction& function) {
  static constexpr std::array<std::string_view, 6> kProducts{"aten::mm",      "aten::addmm",       "aten::bmm",
                                                             "aten::baddbmm", "aten::convolution", "aten::linear"};
  if (std::ranges::find(kProducts, std::string_view(function.name())) == kProducts.end()) return;
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    if (!input.toTensor().is_cpu()) seen_device = true;
    const auto type = std::ranges::find(kTypes, input.toTensor().scalar_type(), &Type::type);
    if (type != kTypes.end()) seen_types.fetch_or(1u << (type - kTypes.begin()), std::memory_order_relaxed);
  }
}

void MeasurePeaks() {
  const unsigned types = seen_types.load(std::memory_order_relaxed);
  if (seen_device) return;
  const c10::impl::ExcludeDispatchKeyGuard plain(WhatThreadsSwitchOn());
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if ((types >> i & 1) != 0) MeasureProducts(kTypes[i]);
  }
  MeasureCopies();
}

}  // namespace loopscope
