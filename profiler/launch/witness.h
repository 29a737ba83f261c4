// Whether a signal was sent to us alone or to our whole process group (as supervisors end a job), in which case a
// program that we started already has it. Uses a process of the group that keeps every signal pending.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace loopscope {

class Witness {
 public:
  Witness() { Start(); }  // blocks what this thread blocks: called while signals arrive as data
  ~Witness() { End(); }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // Whether its group got that signal too, within a few ms of us; true once per signal. False without a witness.
  bool Saw(int signal);

 private:
  void Start();
  void End();
  std::uint64_t Pending() const;  // a bit for each signal, the lowest for number 1

  pid_t process_ = -1;
  std::uint64_t seen_ = 0;  // seen by replaced witnesses, and not reported yet
};

}  // namespace loopscope
