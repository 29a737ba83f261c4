// Whether recording every operator would hold the program's steps up: where operators are so many and so small that it
// takes a noticeable part of a step.
#pragma once

#include <cstdint>

namespace loopscope {

class OpLoad {
 public:
  // A step of the training thread ended at `time_ns`, when it had recorded `records` since its start, its ops' mostly.
  // Only steps that `count` are weighed: all their ops were recorded, and nothing else of them.
  void StepEnded(std::uint64_t time_ns, std::uint64_t records, bool counts) {
    const std::uint64_t taken_ns = (records - records_) * kRecordNs, step_ns = time_ns - time_ns_;
    records_ = records;
    time_ns_ = time_ns;
    if (!counts) return;
    ++steps_;
    heavy_ += taken_ns * 100 > step_ns * kMostPct ? 1 : 0;
  }

  // Of most steps: in one something else may have taken its time.
  bool heavy() const { return heavy_ * 2 > steps_; }

 private:
  // What an op's record costs a real step, where its code and data are not in the caches: 0.3 to 0.7 us, by
  // tests/bench/python_overhead.py.
  static constexpr std::uint64_t kRecordNs = 500;
  static constexpr std::uint64_t kMostPct = 3;

  std::uint64_t records_ = 0, time_ns_ = 0;
  std::uint64_t steps_ = 0, heavy_ = 0;
};

}  // namespace loopscope
