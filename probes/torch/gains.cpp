#include "probes/torch/gains.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "probes/torch/api.h"
#include "probes/torch/gain_work.h"
#include "probes/torch/own_work.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

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

}  // namespace loopscope
