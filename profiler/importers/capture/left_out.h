// Operators and work of devices that ran and are not in the trace: the recorder kept its file below a size, or there
// are more than a report can hold in memory. What is left out began in a stretch in the middle; the start of the run,
// its detail windows and the newest are there, and so is all else that was recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/file.h"

namespace loopscope {

// Of a run: some 80 bytes each, with what the analysis derives from them.
inline constexpr std::uint64_t kMostOperatorsRead = 2'500'000;

class LeftOut {
 public:
  LeftOut() = default;
  // Of one capture file, of which about `most` are to be read.
  LeftOut(const CaptureChunks& chunks, std::uint64_t most);

  bool Has(std::uint64_t start_ns) const;

  // Makes steps in that time known as steps whose operators were not recorded. The marks are no longer by time.
  void Mark(Trace& trace) const;

  std::vector<std::string> Warnings(std::uint64_t run_start_ns) const;

 private:
  IntervalSet times_;
  Interval by_recorder_, by_reader_;
  std::uint64_t not_read_ = 0;  // by chunks
};

}  // namespace loopscope
