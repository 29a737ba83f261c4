// What an op was called with: as text for the detail window, and as a hash of dtypes and sizes.
#pragma once

#include <ATen/record_function.h>

#include <array>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope {

// FNV-1a over the tensor inputs' dtypes and sizes; never 0.
std::uint32_t ShapeHash(const at::RecordFunction& function);

// String id of the text that probes/wire.h describes at OpDetailRecord; 0 when there are no inputs.
std::uint32_t InputsText(const at::RecordFunction& function);

// Autograd sequence numbers of the tensor inputs' grad_fns, as wire::OpDetailRecord tells them.
struct Producers {
  std::uint32_t first, further_count;
  std::array<std::uint32_t, wire::kMaxFurtherProducers> further;
};
void TakeProducers(const at::RecordFunction& function, Producers& producers);

// Tells that an op which began at `time_ns` uses the memory of its tensor inputs, those in lists too.
void NoteUse(const at::RecordFunction& function, std::uint64_t time_ns);

}  // namespace loopscope
