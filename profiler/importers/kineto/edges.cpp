#include "profiler/importers/kineto/edges.h"

#include <algorithm>
#include <map>
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

}  // namespace loopscope
