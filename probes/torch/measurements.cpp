#include "probes/torch/measurements.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/torch/api.h"
#include "probes/torch/gain_work.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

// Operators that the probe runs for itself run bare kernels, whatever the program has enabled for its thread: autograd,
// autocast, dispatch modes. To be excluded while they run.
c10::DispatchKeySet WhatThreadsSwitchOn() {
  using c10::DispatchKey;
  return c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
         c10::DispatchKeySet({DispatchKey::Python, DispatchKey::PythonTLSSnapshot, DispatchKey::PythonDispatcher,
                              DispatchKey::Functionalize, DispatchKey::FuncTorchBatched,
                              DispatchKey::FuncTorchDynamicLayerFrontMode, DispatchKey::FuncTorchDynamicLayerBackMode});
}

constexpr std::uint64_t kMostNs = 1'000'000'000;  // in all
constexpr std::size_t kMostSeen = 256;            // different ones
constexpr std::size_t kMostTimed = 8;             // the largest ones: most of the time in nearly all models
constexpr std::size_t kMostPairs = 9;
constexpr double kMostOperations = 2e9;  // some 20 ms of one core

struct Seen {
  Work work;
  std::uint32_t count = 0;
};

struct SeenWorks {
  std::mutex lock;
  std::vector<Seen> all;
};

// Never destroyed: read at the very end of the program.
SeenWorks& Works() {
  static SeenWorks* works = new SeenWorks;
  return *works;
}

bool HasFast16BitUnits() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

using Tensors = std::vector<at::Tensor>;

Tensors To(at::ScalarType type, const Tensors& tensors) {
  Tensors converted;
  for (const at::Tensor& one : tensors) converted.push_back(one.defined() ? one.to(type) : one);
  return converted;
}

std::uint64_t TakenNs(const auto& run) {
  const std::uint64_t begin_ns = api->now_ns();
  run();
  return api->now_ns() - begin_ns;
}

struct Pair {
  std::uint64_t before_ns = 0, after_ns = 0;
};

// As autocast does it: operands are converted in the forward pass, and gradients of weights back.
Pair TimeOnce(const Work& work, const Tensors& full, const Tensors& half) {
  Pair pair;
  pair.before_ns = TakenNs([&] { Do(work, full); });
  pair.after_ns = TakenNs([&] {
    if (work.in_backward) {
      To(at::kFloat, Do(work, half));
    } else {
      Do(work, To(at::kBFloat16, full));
    }
  });
  return pair;
}

std::uint64_t Median(std::vector<Pair>& pairs, std::uint64_t Pair::*which) {
  std::ranges::nth_element(pairs, pairs.begin() + std::ssize(pairs) / 2, {}, which);
  return pairs[pairs.size() / 2].*which;
}

// Nullopt if there is no time for a pair after the first one, which prepares kernels.
std::optional<Pair> Measure(const Work& work, std::uint64_t until_ns) {
  const Tensors full = OperandsFor(work), half = To(at::kBFloat16, full);
  const std::uint64_t begin_ns = api->now_ns();
  TimeOnce(work, full, half);
  const std::uint64_t once_ns = api->now_ns() - begin_ns;
  std::vector<Pair> pairs;
  while (pairs.size() < kMostPairs && api->now_ns() + once_ns < until_ns) pairs.push_back(TimeOnce(work, full, half));
  if (pairs.empty()) return std::nullopt;
  return Pair{Median(pairs, &Pair::before_ns), Median(pairs, &Pair::after_ns)};
}

std::uint32_t TextId(std::string_view text) {
  return api->string_id(text.data(), text.size());
}

// Times of a part of the work represent the whole.
void Write(const Seen& seen, const Work& timed, const Pair& pair) {
  const double parts = Operations(seen.work) / Operations(timed);
  const auto whole = [&](std::uint64_t ns) { return static_cast<std::uint64_t>(static_cast<double>(ns) * parts); };
  const wire::GainRecord record{{wire::RecordKind::kGain, 0, sizeof(wire::GainRecord) / 8},
                                TextId("amp=bf16"),
                                TextId(TextOf(seen.work)),
                                seen.count,
                                whole(pair.before_ns),
                                whole(pair.after_ns)};
  api->append(&record, sizeof record);
}

}  // namespace

void NoteWork(const at::RecordFunction& function, bool in_backward) {
  static const bool fast = HasFast16BitUnits();
  if (!fast) return;
  std::optional<Work> work = WorkOf(function, in_backward);
  if (!work) return;
  SeenWorks& works = Works();
  const std::lock_guard guard(works.lock);
  const auto known = std::ranges::find(works.all, *work, &Seen::work);
  if (known != works.all.end()) {
    ++known->count;
  } else if (works.all.size() < kMostSeen) {
    works.all.push_back({*std::move(work), 1});
  }
}

void MeasureGains() {
  const std::uint64_t end_ns = api->now_ns() + kMostNs;
  std::vector<Seen> seen;
  {
    SeenWorks& works = Works();
    const std::lock_guard guard(works.lock);
    seen.swap(works.all);
  }
  const auto weight = [](const Seen& one) { return one.count * Operations(one.work); };
  std::ranges::stable_sort(seen, std::ranges::greater{}, weight);
  seen.resize(std::min(seen.size(), kMostTimed));
  const c10::impl::ExcludeDispatchKeyGuard plain(WhatThreadsSwitchOn());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::uint64_t now_ns = api->now_ns();
    if (now_ns >= end_ns) return;
    const Work timed = ShrunkTo(kMostOperations, seen[i].work);
    const auto pair = Measure(timed, now_ns + (end_ns - now_ns) / (seen.size() - i));
    if (pair) Write(seen[i], timed, *pair);
  }
}

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
