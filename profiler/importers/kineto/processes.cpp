#include "profiler/importers/kineto/processes.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/core/trace/op_names.h"
#include "profiler/importers/json/cursor.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

using Shards = std::vector<std::unique_ptr<KinetoShard>>;

// What shows that a process trains, surest sign first: steps, optimizer steps, nodes of the backward pass.
using Signs = std::array<std::uint64_t, 3>;

std::vector<std::uint8_t> SignOfNames(const KinetoShard& shard) {
  std::vector<std::uint8_t> signs;
  for (const KinetoStrings::Entry& entry : shard.names.entries()) {
    const std::string name = UnescapedJson(entry.text);
    signs.push_back(StepLikeness(name) > 0 ? 0 : ops::IsBackwardNode(name) ? 2 : 3);
  }
  return signs;
}

std::map<std::uint32_t, Signs> SignsByPid(const Shards& shards) {
  std::map<std::uint32_t, Signs> all;
  for (const auto& shard : shards) {
    const std::vector<std::uint8_t> signs = SignOfNames(*shard);
    for (const KinetoThread& thread : shard->threads) {
      Signs& of = all[thread.pid];
      for (const KinetoBlock<Event>& block : thread.ops.blocks) {
        for (std::size_t i = 0; i < block.size; ++i) {
          const Event& event = block.items[i];
          const std::size_t sign = event.is_range(RangeCategory::kOptimizer) ? 1 : signs[event.name];
          if (sign < of.size()) ++of[sign];
        }
      }
    }
  }
  return all;
}

bool SeveralPids(const Shards& shards) {
  std::uint32_t first = 0;
  bool any = false;
  for (const auto& shard : shards) {
    for (const KinetoThread& thread : shard->threads) {
      if (any && thread.pid != first) return true;
      first = thread.pid;
      any = true;
    }
  }
  return false;
}

// Where a named process is first seen in the file, and its name.
std::pair<std::uint64_t, std::string> NameOf(const Shards& shards, std::uint32_t pid) {
  std::pair<std::uint64_t, std::string> name{0, "pid " + std::to_string(pid)};
  bool found = false;
  for (const auto& shard : shards) {
    const auto known = shard->process_names.find(pid);
    if (known == shard->process_names.end()) continue;
    const KinetoStrings::Entry& entry = shard->names.entries()[known->second];
    if (found && entry.seen_at >= name.first) continue;
    name = {entry.seen_at, UnescapedJson(entry.text)};
    found = true;
  }
  return name;
}

std::vector<KinetoProcess> TrainingProcesses(const Shards& shards) {
  const std::map<std::uint32_t, Signs> signs = SignsByPid(shards);
  std::vector<std::tuple<bool, std::uint64_t, std::uint32_t, std::string>> training;
  for (std::size_t sign = 0; sign < Signs{}.size() && training.empty(); ++sign) {
    std::uint64_t most = 0;
    for (const auto& [pid, of] : signs) most = std::max(most, of[sign]);
    for (const auto& [pid, of] : signs) {
      if (most == 0 || of[sign] * 2 < most) continue;
      auto [seen_at, name] = NameOf(shards, pid);
      training.emplace_back(pid < kNamedId, seen_at, pid, std::move(name));
    }
  }
  std::ranges::sort(training);
  std::vector<KinetoProcess> processes;
  for (auto& [numbered, seen_at, pid, name] : training) processes.push_back({pid, std::move(name)});
  return processes;
}

}  // namespace

KinetoProcesses SeparateProcesses(Shards& shards, std::uint32_t wanted) {
  KinetoProcesses processes;
  if (!SeveralPids(shards)) return processes;
  processes.training = TrainingProcesses(shards);
  if (processes.training.size() < 2) return processes;
  const auto shown = std::ranges::find(processes.training, wanted, &KinetoProcess::pid);
  if (shown != processes.training.end()) {
    processes.shown = static_cast<std::size_t>(shown - processes.training.begin());
  }
  processes.unowned = KeepDeviceWork(shards, processes.training, processes.shown);
  for (const auto& shard : shards) {
    std::erase_if(shard->threads, [&](const KinetoThread& thread) {
      return thread.pid != processes.training[processes.shown].pid &&
             std::ranges::find(processes.training, thread.pid, &KinetoProcess::pid) != processes.training.end();
    });
  }
  return processes;
}

}  // namespace loopscope
