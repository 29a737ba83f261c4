// Tensors that hold memory after their last use, in the first detail window: from the calls of LibTorch's allocator of
// host memory and from the inputs of ops. Written as facts when the window closes:
//
//   memory.step.N   "BYTES NS": how much all tensors held when they held the most in step N of the window
//   memory.held.N   "BYTES ALLOCATED USED FREED THREAD": a tensor that was alive then, though the last op that used it
//                   had begun before; times in ns, FREED 0 if it was still alive at the end. For a loader's tensor from
//                   before the window, ALLOCATED and THREAD are those of one like it made inside the window, if there
//                   is one
#pragma once

#include <cstddef>
#include <cstdint>

namespace loopscope::lifetimes {

// Once, where there will be a detail window: nothing is followed before, nor after it.
void Follow() noexcept;

// In a forked child, which follows nothing.
void Forget() noexcept;

// An op that begins at `time_ns` has a tensor with this storage among its inputs.
void Used(const void* storage, std::uint64_t time_ns) noexcept;

// By the training thread, between steps. `detail`: the detail window covers the next one.
void StepEnded(bool detail) noexcept;

}  // namespace loopscope::lifetimes
