// What each device did, out of all shards.
#include <map>
#include <utility>

#include "profiler/importers/kineto/merge.h"
#include "profiler/importers/kineto/order.h"

namespace loopscope {

void KinetoMerge::MergeDevices() {
  std::map<std::uint32_t, std::pair<std::vector<std::size_t>, std::vector<KinetoDevice*>>> by_ordinal;
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    for (KinetoDevice& part : shards_[s]->devices) {
      by_ordinal[part.ordinal].first.push_back(s);
      by_ordinal[part.ordinal].second.push_back(&part);
    }
  }
  for (auto& [ordinal, parts] : by_ordinal) {
    std::vector<KinetoColumn<Collective>*> collectives;
    std::vector<KinetoColumn<DeviceEvent>*> columns;
    for (KinetoDevice* part : parts.second) collectives.push_back(&part->collectives);
    for (KinetoDevice* part : parts.second) columns.push_back(&part->events);
    std::unordered_map<std::uint64_t, std::uint32_t> first_of_window;
    const auto window_of = [](std::size_t from, const auto& block) { return std::uint64_t{from} << 32 | block.window; };
    ForEachBlock(collectives, [&](std::size_t from, const KinetoBlock<Collective>& block) {
      first_of_window[window_of(from, block)] = static_cast<std::uint32_t>(trace_.collectives.size());
      const std::vector<StringId>& names = names_[parts.first[from]];
      for (std::size_t i = 0; i < block.size; ++i) {
        Collective& one = trace_.collectives.emplace_back(block.items[i]);
        one.operation = names[one.operation];
        one.group = names[one.group];
        one.purpose = one.purpose == kNone ? 0 : names[one.purpose];
      }
    });
    Device& device = trace_.devices.emplace_back();
    device.ordinal = ordinal;
    device.events.reserve(RecordsIn(columns));
    ForEachBlock(columns, [&](std::size_t from, const KinetoBlock<DeviceEvent>& block) {
      for (std::size_t i = 0; i < block.size; ++i) {
        DeviceEvent& event = device.events.emplace_back(block.items[i]);
        event.start_ns += base_ns_;
        event.end_ns += base_ns_;
        event.name = names_[parts.first[from]][event.name];
        if (event.group != kNone) event.group += first_of_window[window_of(from, block)];
      }
    });
    SortRuns(std::span(device.events),
             [](const DeviceEvent& a, const DeviceEvent& b) { return a.start_ns < b.start_ns; });
    duplicates_ += DropDuplicates(device.events, [](const DeviceEvent& a, const DeviceEvent& b) {
      return a.start_ns == b.start_ns && a.end_ns == b.end_ns && a.stream == b.stream && a.name == b.name &&
             a.correlation == b.correlation && a.correlation != 0;
    });
  }
}

}  // namespace loopscope
