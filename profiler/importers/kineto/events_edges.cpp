// Elements that are written in two halves, "B" and "E". The halves may be in windows that different threads read: they
// are paired before the merge (repairs.h).
#include "profiler/importers/kineto/events.h"

namespace loopscope {

void KinetoEvents::AddBegin(const Element& element) {
  KinetoEdge edge{.seen_at = seen_at(),
                  .time_ns = element.start_ns,
                  .pid = static_cast<std::uint32_t>(element.pid),
                  .tid = static_cast<std::uint32_t>(element.tid)};
  if (IsDeviceWork(element.category)) {
    KinetoDevice* const device = DeviceOf(element);
    const auto work = device != nullptr ? Work(element, *device) : std::nullopt;
    if (!work) return void(shard_.crowded += device == nullptr);
    edge.of = KinetoEdge::Of::kDevice;
    edge.device = static_cast<std::uint32_t>(device - shard_.devices.data());
    edge.work = *work;
  } else {
    if (!ThreadOf(element)) return void(++shard_.crowded);
    const bool python = element.category == KinetoCategory::kPython;
    edge.of = python                                      ? KinetoEdge::Of::kPython
              : element.category == KinetoCategory::kCall ? KinetoEdge::Of::kCall
                                                          : KinetoEdge::Of::kOp;
    if (python) {
      edge.event.name = Name(element.name);
    } else {
      edge.event = HostEvent(element);
    }
  }
  shard_.edges.push_back(edge);
}

// An end only needs its thread and time.
void KinetoEvents::AddEnd(const Element& element) {
  if (!element.has_start || !element.fits) return void(++shard_.impossible);
  shard_.edges.push_back({.seen_at = seen_at(),
                          .time_ns = element.start_ns,
                          .pid = static_cast<std::uint32_t>(element.pid),
                          .tid = static_cast<std::uint32_t>(element.tid)});
}

}  // namespace loopscope
