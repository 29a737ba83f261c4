// Tensors that hold memory after their last use, in the first detail window: from the calls of LibTorch's allocator of
// host memory and from the inputs of ops. Written when the window closes, as wire::TensorPeakRecord and
// wire::TensorRecord.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loopscope::lifetimes {

// Called once, if there will be a detail window: tensors are followed only in it.
void Follow() noexcept;

// In a forked child, which follows nothing.
void Forget() noexcept;

// An op that begins at `time_ns` has a tensor with this storage among its inputs.
void Used(const void* storage, std::uint64_t time_ns) noexcept;

// By the training thread, between steps. `detail`: the detail window covers the next one.
void StepEnded(bool detail) noexcept;

}  // namespace loopscope::lifetimes
