// The memory of CUDA devices, through a separate library, so that this one needs no CUDA header.
#pragma once

namespace loopscope {

// On the training thread, at a step's end: loads libloopscope_torch_cuda.so once libc10_cuda.so is in the process, and
// writes what the devices hold while tracing. Returns whether it has to be called again.
bool NoteDeviceMemory() noexcept;

// At the end.
void WriteDeviceMemoryTotals() noexcept;

}  // namespace loopscope
