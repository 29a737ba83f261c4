#include "profiler/importers/kineto/times.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace loopscope {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kDayNs = 86'400 * kSecondNs;
constexpr std::int64_t kMinGapNs = kSecondNs / 10;      // from 0 to the first other event: nearer, 0 may be a time
constexpr std::int64_t kMinLongestNs = 30 * kSecondNs;  // longest event allowed in a short recording
constexpr std::int64_t kMaxSpanNs = 14 * kDayNs;        // of a recording

template <class Visit>
void ForEachColumn(std::vector<std::unique_ptr<KinetoShard>>& shards, const Visit& visit) {
  for (const auto& shard : shards) {
    for (KinetoThread& thread : shard->threads) {
      visit(*shard, thread.ops);
      visit(*shard, thread.calls);
      visit(*shard, thread.python);
    }
    for (KinetoDevice& device : shard->devices) visit(*shard, device.events);
  }
}

KinetoReach ReachOf(const std::vector<std::unique_ptr<KinetoShard>>& shards) {
  KinetoReach all;
  for (const auto& shard : shards) {
    all.first_ns = std::min(all.first_ns, shard->reach.first_ns);
    all.last_ns = std::max(all.last_ns, shard->reach.last_ns);
    all.last_end_ns = std::max(all.last_end_ns, shard->reach.last_end_ns);
    all.zero |= shard->reach.zero;
  }
  return all;
}

// After the last start only events that already run continue: allow them as long as the span before it.
std::int64_t LatestEnd(const KinetoReach& reach) {
  return reach.last_ns + std::max(reach.last_ns - reach.first_ns, kMinLongestNs);
}

bool ZeroIsNoTime(const KinetoReach& reach) {
  return reach.zero && reach.first_ns != INT64_MAX && reach.first_ns > kMinGapNs;
}

bool InOrder(const KinetoReach& reach) {
  if (reach.first_ns == INT64_MAX) return true;
  return !ZeroIsNoTime(reach) && reach.last_ns - reach.first_ns <= kMaxSpanNs && reach.last_end_ns <= LatestEnd(reach);
}

// The median of all nonzero starts: most events have correct times.
std::int64_t MiddleStart(std::vector<std::unique_ptr<KinetoShard>>& shards) {
  std::vector<std::int64_t> starts;
  ForEachColumn(shards, [&](KinetoShard&, const auto& column) {
    for (const auto& block : column.blocks) {
      for (std::size_t i = 0; i < block.size; ++i) {
        if (block.items[i].start_ns != 0) starts.push_back(block.items[i].start_ns);
      }
    }
  });
  if (starts.empty()) return 0;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  return *middle;
}

// Keeps the records of a block that pass.
template <class T, class Passes>
void Filter(KinetoBlock<T>& block, const Passes& passes) {
  T* const end = std::remove_if(block.items.get(), block.items.get() + block.size,
                                [&](const T& one) { return !passes(one.start_ns, one.end_ns); });
  block.size = static_cast<std::size_t>(end - block.items.get());
}

}  // namespace

void DropUntrueTimes(std::vector<std::unique_ptr<KinetoShard>>& shards) {
  const KinetoReach all = ReachOf(shards);
  if (InOrder(all)) return;
  const std::int64_t middle_ns = MiddleStart(shards);
  const auto near = [&](std::int64_t start_ns) { return std::abs(start_ns - middle_ns) <= kMaxSpanNs / 2; };
  KinetoReach true_reach;
  ForEachColumn(shards, [&](KinetoShard&, const auto& column) {
    for (const auto& block : column.blocks) {
      for (std::size_t i = 0; i < block.size; ++i) {
        if (near(block.items[i].start_ns)) true_reach.Add(block.items[i].start_ns, block.items[i].start_ns);
      }
    }
  });
  const bool zero_is_none = ZeroIsNoTime(true_reach) || !near(0);
  const std::int64_t latest_ns = LatestEnd(true_reach);
  ForEachColumn(shards, [&](KinetoShard& shard, auto& column) {
    constexpr bool on_device = std::is_same_v<decltype(column), KinetoColumn<DeviceEvent>&>;
    for (auto& block : column.blocks) {
      Filter(block, [&](std::int64_t start_ns, std::int64_t end_ns) {
        const bool timeless = start_ns == 0 && zero_is_none;
        const bool far_off = !timeless && (!near(start_ns) || end_ns > latest_ns);
        shard.timeless += timeless;
        shard.far_off += far_off;
        shard.lost_work += on_device && (timeless || far_off);
        return !timeless && !far_off;
      });
    }
  });
}

}  // namespace loopscope
