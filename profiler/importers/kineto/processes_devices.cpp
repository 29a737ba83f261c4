#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/kineto/processes.h"

namespace loopscope {
namespace {

using Shards = std::vector<std::unique_ptr<KinetoShard>>;

constexpr std::int64_t kClockSlackNs = 1'000'000;  // between the host's clock and the device's
constexpr double kWholeShare = 0.98;               // of a pid's work: one process that launched so much has all

// The calls of all training processes, to look up which of them launched a piece of work.
class Launchers {
 public:
  Launchers(const Shards& shards, const std::vector<KinetoProcess>& training) : processes_(training.size()) {
    for (const auto& shard : shards) {
      for (const KinetoThread& thread : shard->threads) {
        const auto process = std::ranges::find(training, thread.pid, &KinetoProcess::pid);
        if (process == training.end()) continue;
        Add(thread, static_cast<std::uint32_t>(process - training.begin()));
      }
    }
    std::ranges::sort(calls_, {}, &Call::correlation);
  }

  // The process whose call launched it; nullopt where none did, or several may have.
  std::optional<std::size_t> Of(const DeviceEvent& work) const {
    if (work.correlation == 0) return std::nullopt;
    std::optional<std::size_t> only;
    for (const Call& call : std::ranges::equal_range(calls_, work.correlation, {}, &Call::correlation)) {
      if (call.start_ns > work.start_ns + kClockSlackNs) continue;
      if (only && *only != call.process) return std::nullopt;
      only = call.process;
    }
    return only;
  }
  std::size_t processes() const { return processes_; }

 private:
  struct Call {
    std::uint32_t correlation, process;
    std::int64_t start_ns;
  };

  void Add(const KinetoThread& thread, std::uint32_t process) {
    for (const KinetoBlock<Event>& block : thread.calls.blocks) {
      for (std::size_t i = 0; i < block.size; ++i) {
        const Event& call = block.items[i];
        if (call.value != 0) calls_.push_back({call.value, process, call.start_ns});
      }
    }
  }

  std::size_t processes_;
  std::vector<Call> calls_;
};

using Key = std::pair<std::uint32_t, std::uint32_t>;  // ordinal, pid

std::map<Key, std::vector<std::uint64_t>> CountOwned(const Shards& shards, const Launchers& launchers) {
  std::map<Key, std::vector<std::uint64_t>> counts;
  for (const auto& shard : shards) {
    for (const KinetoDevice& device : shard->devices) {
      auto& by_process = counts[{device.ordinal, device.pid}];
      by_process.resize(launchers.processes());
      for (const KinetoBlock<DeviceEvent>& block : device.events.blocks) {
        for (std::size_t i = 0; i < block.size; ++i) {
          if (const auto owner = launchers.Of(block.items[i])) ++by_process[*owner];
        }
      }
    }
  }
  return counts;
}

std::string TextOf(const Shards& shards, std::uint32_t pid) {
  for (const auto& shard : shards) {
    const auto found = shard->process_names.find(pid);
    if (found != shard->process_names.end()) return UnescapedJson(shard->names.entries()[found->second].text);
  }
  return "";
}

// The one process that shares more of its name's beginning with `text` than all others do.
std::optional<std::size_t> ByName(std::string_view text, const std::vector<KinetoProcess>& training) {
  std::optional<std::size_t> best;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < training.size(); ++i) {
    const auto [at, end] = std::ranges::mismatch(text, training[i].name);
    const auto common = static_cast<std::size_t>(at - text.begin());
    if (common == longest) best.reset();
    if (common <= longest) continue;
    longest = common;
    best = i;
  }
  return best;
}

// The process that all work under one pid belongs to; nullopt if several share the pid, or it is unknown.
class Owners {
 public:
  Owners(const Shards& shards, const std::vector<KinetoProcess>& training, const Launchers& launchers)
      : counts_(CountOwned(shards, launchers)) {
    for (const auto& [key, by_process] : counts_) owner_[key] = OwnerOf(shards, training, key, by_process);
  }

  std::optional<std::size_t> Of(const KinetoDevice& device) const { return owner_.at({device.ordinal, device.pid}); }

 private:
  std::optional<std::size_t> OwnerOf(const Shards& shards, const std::vector<KinetoProcess>& training, const Key& key,
                                     const std::vector<std::uint64_t>& by_process) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : by_process) sum += count;
    const auto most = std::ranges::max_element(by_process);
    if (sum > 0 && static_cast<double>(*most) >= kWholeShare * static_cast<double>(sum)) {
      return static_cast<std::size_t>(most - by_process.begin());
    }
    if (sum > 0) return std::nullopt;
    if (const auto named = ByName(TextOf(shards, key.second), training)) return named;
    // As many pids as processes, and no other sign: match them in order.
    std::vector<std::uint32_t> pids;
    for (const auto& [other, counts] : counts_) {
      if (other.first == key.first) pids.push_back(other.second);
    }
    if (pids.size() != training.size()) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::find(pids, key.second) - pids.begin());
  }

  std::map<Key, std::vector<std::uint64_t>> counts_;
  std::map<Key, std::optional<std::size_t>> owner_;
};

}  // namespace

std::uint64_t KeepDeviceWork(Shards& shards, const std::vector<KinetoProcess>& training, std::size_t shown) {
  const Launchers launchers(shards, training);
  const Owners owners(shards, training, launchers);
  std::uint64_t unowned = 0;
  const auto is_other = [&](const DeviceEvent& work) {
    const auto owner = launchers.Of(work);
    unowned += !owner;
    return owner != shown;
  };
  for (const auto& shard : shards) {
    std::erase_if(shard->devices, [&](KinetoDevice& device) {
      const auto owner = owners.Of(device);
      if (owner) return *owner != shown;
      for (KinetoBlock<DeviceEvent>& block : device.events.blocks) {
        DeviceEvent* const end = std::remove_if(block.items.get(), block.items.get() + block.size, is_other);
        block.size = static_cast<std::size_t>(end - block.items.get());
      }
      return false;
    });
  }
  return unowned;
}

}  // namespace loopscope
