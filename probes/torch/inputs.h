// An op's inputs: as text for the detail window, and as a hash of dtypes and sizes.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>

namespace loopscope {

// FNV-1a over the tensor inputs' dtypes and sizes; never 0.
std::uint32_t ShapeHash(const at::RecordFunction& function);

// String id of the text that probes/wire.h describes at OpDetailRecord; 0 when there are no inputs.
std::uint32_t InputsText(const at::RecordFunction& function);

// Records that an op which began at `time_ns` uses the memory of its tensor inputs, including those in lists.
void NoteUse(const at::RecordFunction& function, std::uint64_t time_ns);

}  // namespace loopscope
