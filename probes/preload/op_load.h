// Whether recording every operator would slow the steps noticeably, because operators are many and
// small.
#pragma once

#include <cstdint>

namespace loopscope {

class OpLoad {
 public:
  // A step of the training thread ended at `time_ns`, when it had written `records` since its start, mostly of ops.
  // Only steps with `counts` are weighed: those whose ops were all recorded, without details.
  void StepEnded(std::uint64_t time_ns, std::uint64_t records, bool counts) {
    const std::uint64_t taken_ns = (records - records_) * kRecordNs, step_ns = time_ns - time_ns_;
    records_ = records;
    time_ns_ = time_ns;
    if (!counts) return;
    ++steps_;
    heavy_ += taken_ns * 100 > step_ns * kMostPct ? 1 : 0;
  }

  // Judged over most steps: a single one may have been slow for another reason.
  bool heavy() const { return heavy_ * 2 > steps_; }

 private:
  // Cost of an op's record in a real step, with cold caches: 0.3 to 0.7 us, by
  // tests/bench/python_overhead.py.
  static constexpr std::uint64_t kRecordNs = 500;
  static constexpr std::uint64_t kMostPct = 3;

  std::uint64_t records_ = 0, time_ns_ = 0;
  std::uint64_t steps_ = 0, heavy_ = 0;
};

}  // namespace loopscope
