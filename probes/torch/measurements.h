// What is measured in the program itself at the end of its bounded run, on operators of the probe's own: what 16-bit
// operands gain, and what this machine reaches.
#pragma once

#include <ATen/record_function.h>

namespace loopscope {

// Whether 16-bit operands would make the program's float32 layers faster.

// Remembers a float32 convolution or matrix product on the CPU by its shapes, and how often it was seen; ignores any
// other operator. The function must pass its inputs.
void NoteWork(const at::RecordFunction& function, bool in_backward);

// Times the largest of them both ways on fresh tensors and writes a wire::GainRecord for each; takes a second at most,
// and no time on a processor without 16-bit units. On the training thread, once the loop is over.
void MeasureGains();

// What this machine reaches with the program's own torch and number of threads:
// what a step's arithmetic and memory traffic are held against.

// Remembers in which types the program computes products. The function must pass its inputs.
void NoteProductType(const at::RecordFunction& function);

// Times products of those types and copies, each in several sizes, on tensors of its own, and writes the best of each
// as the facts peak.product.TYPE.SIZE (MFLOP/s) and peak.copy.BYTES (MB/s, read and written). Half a second at most. On
// the training thread, once the loop is over; nothing where a product was computed on a device.
void MeasurePeaks();

}  // namespace loopscope
