// Whether a signal was sent to us alone, or to our whole process group, as supervisors do that end a job: a program
// that we started has those already. A process of the group that keeps every signal pending tells.
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

  // Whether its group got that signal too, within a few ms of us; each is told once. False where there is no witness.
  bool Saw(int signal);

 private:
  void Start();
  void End();
  std::uint64_t Pending() const;  // a bit for each signal, the lowest for number 1

  pid_t process_ = -1;
  std::uint64_t seen_ = 0;  // by witnesses that were replaced, and not told yet
};

}  // namespace loopscope
