// The program's threads, played: each writes its operators, ranges and marks into the capture as they end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/replay/program.h"

namespace loopscope::replay {

class PlayedHost {
 public:
  PlayedHost(const Program& program, std::uint64_t base_ns) : program_(program), base_ns_(base_ns) {}

  // Starts the threads, which wait; returns the system's numbers of them.
  std::map<std::uint32_t, std::uint32_t> Start();
  void Run();  // until all are done

 private:
  void Play(std::uint32_t number, const Thread& thread);
  void WriteOp(const Op& op) const;
  void WriteRange(const Range& range) const;
  void WriteBegin() const;

  const Program& program_;
  std::uint64_t base_ns_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::uint32_t> ids_;
  bool running_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace loopscope::replay
