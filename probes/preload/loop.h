// The training loop as the interposed functions see it: turns their calls into records, steps, epochs and the end of
// a bounded run. Every function may be called from any thread and does nothing while no capture is open.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/preload/probe_api.h"
#include "probes/preload/settings.h"
#include "probes/preload/step_clock.h"
#include "probes/wire.h"

namespace loopscope::loop {

void Start(const Settings& settings) noexcept;

// The program ends on its own, with `status`.
void ProgramEnds(int status) noexcept;

bool Active() noexcept;   // a capture is open in this process (not in its forked children)
bool Tracing() noexcept;  // … and ranges are recorded

// A sampler was reset, gave a batch (`indices` may be null), or had none left. `name` is the
// range's.
void SamplerReset(const void* sampler, std::uint64_t begin_ns) noexcept;
void SamplerGave(const void* sampler, std::uint64_t begin_ns, const std::size_t* indices, std::size_t samples,
                 std::string_view name = "sampler") noexcept;
void SamplerRanOut(const void* sampler, std::uint64_t begin_ns, std::string_view name = "sampler") noexcept;

void BackwardBegins(const void* roots) noexcept;
void BackwardEnds(std::uint64_t begin_ns, bool threw) noexcept;
bool InBackward() noexcept;
// Gradients were taken outside of a backward pass, by a program that has shown neither one nor an optimizer.
void GradientTaken() noexcept;

void ZeroGradBegins() noexcept;
void ZeroGradEnds(std::uint64_t begin_ns, bool set_to_none) noexcept;

// How many numbers a torch::optim::Optimizer trains; 0 unknown.
std::uint64_t ParametersOf(const void* optimizer) noexcept;

// The program has built an optimizer: its steps will be reported.
void OptimizerMade() noexcept;
// An optimizer's zero_grad is called: where a class's step cannot be seen, this shows where its steps end.
void OptimizerZeroed() noexcept;
void UpdatedOutOfSight() noexcept;  // parameters of an optimizer, since the last backward pass
// Brackets an optimizer's step; nested ones (a derived class calling its base) count as the outermost.
void OptimizerBegins() noexcept;
void OptimizerEnds(const void* optimizer, std::string_view name, std::uint64_t parameters, std::uint64_t begin_ns,
                   bool threw) noexcept;

void Waited(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;
// Text was written; `bytes` 0: unknown.
void Output(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes) noexcept;
// The calling thread waited in a function of the system's: "nanosleep".
void Pause(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;

// Records a range while tracing.
void Range(wire::RangeCategory category, std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns,
           std::uint64_t value, bool with_stack) noexcept;
// `is_step`: the program calls the range a training step.
void UserRange(std::uint32_t name, bool is_step, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;
void MarkedStepEnd(std::uint64_t samples) noexcept;
// A mark at this moment, in step time.
void Mark(wire::MarkKind kind, std::string_view name, std::uint64_t value) noexcept;

// `finish` is called on the training thread before a bounded run ends.
void CallAtEnd(void (*finish)()) noexcept;

Mode RunMode() noexcept;
const std::atomic<std::uint32_t>& Gate() noexcept;  // GateBit
void SetTorchHooks(const TorchHooks* hooks) noexcept;

}  // namespace loopscope::loop
