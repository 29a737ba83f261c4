// Gives ops their inputs and the place they were called from, out of what encloses them on their thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/importers/kineto/merge.h"
#include "profiler/importers/kineto/stacks.h"

namespace loopscope {

class KinetoDetails {
 public:
  KinetoDetails(KinetoMerge& merge, KinetoStacks& stacks) : merge_(merge), stacks_(stacks) {}

  // Takes the thread with the given index in Trace::threads, whose events are complete and in order.
  void Add(std::uint32_t thread, std::vector<Event>& events, const std::vector<PythonCall>& python);

 private:
  void Enter(const PythonCall& call);
  void MarkDeviceUse(const std::vector<Event>& events);
  std::uint32_t ShapeHash(std::uint32_t raw) const;
  std::uint32_t Detail(std::uint32_t raw, std::uint32_t stack, bool on_device);

  struct Frame {
    std::int64_t end_ns;
    std::uint32_t stack;
  };
  KinetoMerge& merge_;
  KinetoStacks& stacks_;
  std::vector<Frame> frames_;                               // Python calls that are open
  std::vector<std::uint32_t> open_;                         // ops that are open
  std::vector<std::uint32_t> called_;                       // by event: its stack
  std::vector<bool> on_device_;                             // by event: it put work on a device
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // inputs and stack → index into Trace::details
};

}  // namespace loopscope
