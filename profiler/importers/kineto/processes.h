// Files that hold several processes, such as the traces of two ranks put together: which of them train, and which
// threads and devices are whose.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/importers/kineto/device_owners.h"
#include "profiler/importers/kineto/shard.h"

namespace loopscope {

struct KinetoProcesses {
  std::vector<KinetoProcess> training;  // named ones by where they begin in the file, then by pid; fewer than two: one
  std::size_t shown = 0;                // index into it
  std::uint64_t unowned = 0;            // device work of unknown owner, left out
};

// Processes that did at least half of what the busiest did train. Where several did, only the one with the pid `wanted`
// (0, or one that did not train: the first) stays in the shards, with what its calls put on devices.
KinetoProcesses SeparateProcesses(std::vector<std::unique_ptr<KinetoShard>>& shards, std::uint32_t wanted);

}  // namespace loopscope
