// Whether 16-bit operands would make the program's float32 layers faster, tried out in the program itself when its
// bounded run ends.
#pragma once

#include <ATen/record_function.h>

namespace loopscope {

// Remembers a float32 convolution or matrix product on the CPU by its shapes, with how often it was seen; any other
// operator is left alone. The function must pass its inputs.
void NoteWork(const at::RecordFunction& function, bool in_backward);

// Times the largest of them both ways on tensors of its own and writes a wire::GainRecord of each; it takes a second at
// most, and none on a processor without 16-bit units. On the training thread, once the loop is over.
void MeasureGains();

}  // namespace loopscope
