// Current figures of a training, from the records that it writes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/importers/capture/tail.h"

namespace loopscope {

// Sums over the steps of the process that takes most of them, since Begin().
class WatchFigures {
 public:
  void Add(const NewRecords& records);

  // "1,234 steps, 8.31 ms each: loader 7 %, backward 38 %, optimizer 11 %"; if no step has ended, the time since then.
  // Then resets the sums, except for the counts of steps and epochs.
  std::string Take(std::uint64_t now_ns);

 private:
  static constexpr std::size_t kParts = 7;
  struct Process {
    void StepEnded(std::uint64_t time_ns, std::uint32_t tid);

    std::uint64_t steps = 0, epochs = 0;  // in all
    std::uint64_t new_steps = 0;
    std::uint64_t last_step_ns = 0, since_ns = 0;  // end of the last step; end of the last reported one
    std::uint64_t resident_bytes = 0;
    std::uint32_t training_tid = 0;
    std::map<std::uint32_t, std::array<std::uint64_t, kParts>> parts_ns = {};  // by thread
  };
  std::map<std::uint32_t, Process> processes_;
  std::uint64_t first_ns_ = 0;
};

}  // namespace loopscope
