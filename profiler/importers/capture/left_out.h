// What ran but is not in the trace, because the recorder limits its file's size or a report's memory is limited.
// Operators and work of devices that began in a stretch in the middle are left out; the start of the run, its
// detail windows and the newest are there. In a run of very many steps some in the middle are skipped entirely.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/core/trace/interval_set.h"
#include "profiler/core/trace/trace.h"
#include "profiler/importers/capture/file.h"

namespace loopscope {

// How much of a run is read: operators and work of devices, about 80 bytes each including what the analysis derives
// from them, and ranges and marks, about 150 bytes including their steps.
struct MostRead {
  std::uint64_t operators = 1'500'000, others = 1'000'000;
};

class LeftOut {
 public:
  LeftOut() = default;
  // For one capture file, of which about `most` records are read.
  LeftOut(const CaptureChunks& chunks, MostRead most);

  // Whether operators that began at that time are left out, and whether everything then is.
  bool Has(std::uint64_t start_ns) const;
  bool Skips(std::uint64_t time_ns) const;
  const SkippedTime& skipped() const { return skipped_; }

  // Marks steps whose operators are left out. Leaves the marks out of time order.
  void Mark(Trace& trace) const;

  std::vector<std::string> Warnings(std::uint64_t run_start_ns) const;

 private:
  struct Overview;
  static Overview LookOver(const CaptureChunks& capture);
  void Skip(const CaptureChunks& capture, const Overview& overview, std::uint64_t most);
  void LeaveOutOperators(const CaptureChunks& capture, Overview overview, std::uint64_t most);

  IntervalSet times_;
  Interval by_recorder_, by_reader_;
  SkippedTime skipped_;
  bool reader_skips_ = false;
  std::uint64_t not_read_ = 0;  // by chunks
};

}  // namespace loopscope
