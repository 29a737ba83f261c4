// Live pairs: treatments that can be switched while the program runs are switched at the ends of steps, in blocks, by a
// schedule that the environment gives (env::kLive). Three places act: knobs of the program, appliers of the LibTorch
// probe, the shim inside an interpreter.
#pragma once

#include <cstdint>
#include <string_view>

namespace loopscope::live {

// Reads the schedule; without one, the functions below do nothing.
void Start() noexcept;
bool Scheduled() noexcept;

// 1 on, 0 off at the moment; -1: not switched in this launch.
int State(std::string_view key) noexcept;
// The treatment changed something in the steps since the last switch.
void Acted(std::string_view key) noexcept;

// A knob of the program. `turn` gets the requested value, or null for the program's own, and returns whether that is in
// effect now. Returns whether it is switched in this launch.
using Turn = bool (*)(const char* value, void* context);
bool Offer(std::string_view key, Turn turn, void* context) noexcept;

// Called for every treatment at every switch; returns whether that treatment changed anything since the last switch.
using Switch = int (*)(const char* key, int on);
void SetInterpreter(Switch notify) noexcept;

// The step that ends now is the last one within the schedule's time: another round would take too long.
bool EndsWithThisStep(std::uint64_t time_ns) noexcept;
// A step of the chosen clock ended, on this thread; no lock is held. `opens`: the window begins with this; `closes`: it
// is over.
void StepEnded(std::uint64_t time_ns, bool opens, bool closes) noexcept;
// The next step may be the last one of its block.
bool SwitchesNext() noexcept;

}  // namespace loopscope::live
