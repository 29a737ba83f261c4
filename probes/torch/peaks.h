// What this machine reaches with the program's own torch and number of threads, measured when its bounded run ends:
// what a step's arithmetic and memory traffic are held against.
#pragma once

#include <ATen/record_function.h>

namespace loopscope {

// Remembers in which types the program computes products. The function must pass its inputs.
void NoteProductType(const at::RecordFunction& function);

// Times products of those types and copies, each in several sizes, on tensors of its own, and writes the best of each
// as the facts peak.product.TYPE.SIZE (MFLOP/s) and peak.copy.BYTES (MB/s, read and written). Half a second at most. On
// the training thread, once the loop is over; nothing where a product was computed on a device.
void MeasurePeaks();

}  // namespace loopscope
