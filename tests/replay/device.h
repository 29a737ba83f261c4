// A driver and its CUPTI, played: records what it was asked for, fills buffers, hands them over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "tests/replay/activities.h"

namespace loopscope::replay {

// CUPTI's functions take no state: there is one.
class PlayedDevice {
 public:
  static PlayedDevice& Instance();

  // `names` and the layout must outlive it.
  Cupti Functions(const Layout& layout, const CallNames& names);

  // What the program makes its devices do. Once, before anything happens.
  void Expect(std::vector<Activity> activities) { activities_ = std::move(activities); }

  // Time goes on up to `until_ns`. Full buffers are handed over, the last one stays.
  void RunUntil(std::uint64_t until_ns);
  // Hands over what there is.
  void Flush();

  void Lose(std::size_t records) { dropped_ = records; }  // said once, of the next buffer
  std::size_t handed_over() const { return handed_over_; }

 private:
  // A part of the collector's: a short program fills several.
  static constexpr std::size_t kFilledBytes = 32 << 10;

  bool IsWanted(const Activity& activity) const;
  void HandOver();

  std::mutex lock_;
  std::vector<Activity> activities_;
  std::size_t next_ = 0, handed_over_ = 0, in_buffer_ = 0;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0, used_ = 0;

  const CallNames* names_ = nullptr;
  std::set<CUpti_ActivityKind> kinds_;
  std::set<std::uint32_t> runtime_calls_, driver_calls_;
  std::size_t dropped_ = 0;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
};

}  // namespace loopscope::replay
