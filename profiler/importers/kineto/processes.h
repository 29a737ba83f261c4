// Assigns device work to the processes of a file with several.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/importers/kineto/shard.h"

namespace loopscope {

struct KinetoProcess {
  std::uint32_t pid = 0;
  std::string name;  // "rank0:4242", "pid 4242"
};

// Keeps what process `shown` of `training` put on devices: work that carries a pid of its own belongs to the process
// whose calls launched it, or with whose name that pid begins; under a pid that several processes share, each piece
// belongs to the process with the call that launched it. Returns how many pieces could be of several or of none.
std::uint64_t KeepDeviceWork(std::vector<std::unique_ptr<KinetoShard>>& shards,
                             const std::vector<KinetoProcess>& training, std::size_t shown);

struct KinetoProcesses {
  std::vector<KinetoProcess> training;  // named ones by where they begin in the file, then by pid; fewer than two: one
  std::size_t shown = 0;                // index into it
  std::uint64_t unowned = 0;            // device work of unknown owner, left out
};

// Processes that did at least half of what the busiest did train. Where several did, only the one with the pid `wanted`
// (0, or one that did not train: the first) stays in the shards, with what its calls put on devices.
KinetoProcesses SeparateProcesses(std::vector<std::unique_ptr<KinetoShard>>& shards, std::uint32_t wanted);

}  // namespace loopscope
