// What the probe reads of the program's training: its losses, its optimizer, the memory of its devices.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>

namespace loopscope {

// The losses of a check launch: the roots of backward, kept on their device and read later, so that reading them does
// not change the run that is checked.

// `roots`: const std::vector<at::Tensor>*, before backward.
void KeepLoss(const void* roots);
void WriteLosses();

// The probe's queries on torch::optim::Optimizer.

// How many numbers a torch::optim::Optimizer trains, in all its groups. Asked after each of its steps.
std::uint64_t ParametersOf(const void* optimizer) noexcept;

// Device of the last queried optimizer's parameters; nullopt before.
std::optional<c10::DeviceType> TrainedDevice() noexcept;

// The memory of CUDA devices, through a separate library, so that this one needs no CUDA header.

// On the training thread, at a step's end: loads libloopscope_torch_cuda.so once libc10_cuda.so is in the process, and
// writes what the devices hold while tracing. Returns whether it has to be called again.
bool NoteDeviceMemory() noexcept;

// At the end.
void WriteDeviceMemoryTotals() noexcept;

}  // namespace loopscope
