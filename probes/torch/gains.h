// Whether 16-bit operands would make the program's float32 layers faster, measured in the program itself at the end of
// a bounded run.
#pragma once

#include <ATen/record_function.h>

namespace loopscope {

// Remembers a float32 convolution or matrix product on the CPU by its shapes, and how often it was seen; ignores any
// other operator. The function must pass its inputs.
void NoteWork(const at::RecordFunction& function, bool in_backward);

// Times the largest of them both ways on fresh tensors and writes a wire::GainRecord for each; takes a second at most,
// and no time on a processor without 16-bit units. On the training thread, once the loop is over.
void MeasureGains();

}  // namespace loopscope
