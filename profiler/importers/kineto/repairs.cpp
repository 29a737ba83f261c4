#include "profiler/importers/kineto/repairs.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace loopscope {
namespace {

struct Placed {
  KinetoShard* shard;
  const KinetoEdge* edge;
};

// A column's current window is closed, so each event becomes a block of the window that holds its begin.
template <class T>
void Append(KinetoColumn<T>& column, const KinetoEdge& begin, const T& record) {
  column.current.push_back(record);
  column.Close(static_cast<std::uint32_t>(begin.seen_at >> 32));
}

void AddHost(KinetoShard& shard, const KinetoEdge& begin, std::int64_t end_ns) {
  const auto thread = std::ranges::find_if(
      shard.threads, [&](const KinetoThread& one) { return one.pid == begin.pid && one.tid == begin.tid; });
  if (thread == shard.threads.end()) return;
  Event event = begin.event;
  event.start_ns = begin.time_ns;
  event.end_ns = end_ns;
  if (begin.of == KinetoEdge::Of::kPython) {
    Append(thread->python, begin, {event.start_ns, event.end_ns, event.name});
  } else {
    Append(begin.of == KinetoEdge::Of::kCall ? thread->calls : thread->ops, begin, event);
  }
}

void AddWhole(const Placed& begin, std::int64_t end_ns) {
  begin.shard->reach.Add(begin.edge->time_ns, end_ns);
  if (begin.edge->of != KinetoEdge::Of::kDevice) return AddHost(*begin.shard, *begin.edge, end_ns);
  DeviceEvent work = begin.edge->work;
  work.start_ns = begin.edge->time_ns;
  work.end_ns = end_ns;
  Append(begin.shard->devices[begin.edge->device].events, *begin.edge, work);
}

// Kineto's own order of the halves is kept where their times are equal.
void PairOne(std::vector<Placed>& edges) {
  std::ranges::sort(edges, {}, [](const Placed& one) { return one.edge->seen_at; });
  std::ranges::stable_sort(edges, {}, [](const Placed& one) { return one.edge->time_ns; });
  std::vector<Placed> open;
  for (const Placed& one : edges) {
    if (one.edge->of != KinetoEdge::Of::kEnd) {
      open.push_back(one);
    } else if (open.empty()) {
      ++one.shard->unpaired;
    } else {
      AddWhole(open.back(), one.edge->time_ns);
      open.pop_back();
    }
  }
  for (const Placed& one : open) ++one.shard->unpaired;
}

}  // namespace

void PairKinetoEdges(std::vector<std::unique_ptr<KinetoShard>>& shards) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Placed>> threads;
  for (const auto& shard : shards) {
    for (const KinetoEdge& edge : shard->edges) threads[{edge.pid, edge.tid}].push_back({shard.get(), &edge});
  }
  for (auto& [thread, edges] : threads) PairOne(edges);
  for (const auto& shard : shards) shard->edges = {};
}

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

namespace {

constexpr std::int64_t kGrainNs = 1'000;

bool AllWhole(std::int64_t base_ns, const std::vector<Event>& events) {
  return std::ranges::all_of(events, [&](const Event& event) {
    return (event.start_ns - base_ns) % kGrainNs == 0 && (event.end_ns - base_ns) % kGrainNs == 0;
  });
}

// How much more often events of one name were plainly inside those of another than plainly after them.
class Nesting {
 public:
  void Add(StringId outer, StringId inner, bool inside) { by_names_[Key(outer, inner)] += inside ? 1 : -1; }
  int Of(StringId outer, StringId inner) const {
    const auto found = by_names_.find(Key(outer, inner));
    return found == by_names_.end() ? 0 : found->second;
  }

 private:
  static std::uint64_t Key(StringId outer, StringId inner) { return std::uint64_t{outer} << 32 | inner; }
  std::unordered_map<std::uint64_t, int> by_names_;
};

class Separation {
 public:
  explicit Separation(std::vector<Event>& events) : events_(events) {}

  void Run() {
    learning_ = true;
    Walk();
    learning_ = false;
    Walk();
  }

 private:
  struct Open {
    std::size_t index;
    std::int64_t start_ns, end_ns;  // as in the file
  };

  // Goes through the events as they began and ended.
  void Walk() {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Open next{i, events_[i].start_ns, events_[i].end_ns};
      for (; !open_.empty() && !Inside(open_.back(), next); open_.pop_back()) Leave(open_.back(), next.start_ns);
      if (!learning_) last_ns_ = events_[i].start_ns = std::max(next.start_ns, last_ns_);
      open_.push_back(next);
    }
    for (; !open_.empty(); open_.pop_back()) Leave(open_.back(), INT64_MAX);
  }

  void Leave(const Open& left, std::int64_t next_start_ns) {
    if (learning_) return;
    Event& event = events_[left.index];
    event.end_ns = std::max(left.end_ns, event.start_ns + 1);
    if (left.end_ns > next_start_ns) return;  // neither inside the other: their times stay
    last_ns_ = event.end_ns = std::max(event.end_ns, last_ns_);
  }

  // An event that begins before another's end is inside it: both ends are rounded, so that its own may seem later. One
  // without length at the end of another may be inside it or after it.
  bool Inside(const Open& outer, const Open& event) {
    const StringId outer_name = events_[outer.index].name, name = events_[event.index].name;
    const bool touches = event.start_ns == outer.end_ns && event.end_ns == event.start_ns;
    if (!touches) {
      const bool inside = event.start_ns < outer.end_ns && event.end_ns <= outer.end_ns + kGrainNs;
      if (learning_) nesting_.Add(outer_name, name, inside);
      return inside;
    }
    if (learning_) return false;
    const int known = nesting_.Of(outer_name, name);
    return known != 0 ? known > 0 : outer.end_ns == outer.start_ns && name != outer_name;
  }

  std::vector<Event>& events_;
  std::vector<Open> open_;
  Nesting nesting_;
  std::int64_t last_ns_ = INT64_MIN;
  bool learning_ = true;
};

}  // namespace

void SeparateWholeMicroseconds(std::int64_t base_ns, std::vector<Event>& events) {
  if (!AllWhole(base_ns, events)) return;
  Separation(events).Run();
}

}  // namespace loopscope
