// What the names mean that CUDA, NCCL and NVTX's users write, for importers that read them as they were written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/trace/device_event.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// The meaning of CUDA's and NCCL's own names, for importers that read them as the libraries write them.

// "cudaLaunchKernel_v7000" → "cudaLaunchKernel", "cudaMemcpyAsync_ptsz_v7000" → "cudaMemcpyAsync".
std::string_view PlainCall(std::string_view name);
bool IsSynchronizingCall(std::string_view plain_call);  // cudaStreamSynchronize, hipDeviceSynchronize …

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL" → "allreduce"; "" for a kernel that does not communicate.
std::string CollectiveOfKernel(std::string_view kernel);

std::string_view NameOfCopy(CopyKind kind);  // "Memcpy HtoD"

// What the messages of NVTX ranges mean, in any trace format.

// An operator as torch.autograd.profiler.emit_nvtx writes it: "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3]]".
struct EmittedOp {
  std::string_view name;
  std::uint32_t sequence = kNone;
  std::string inputs;  // in the form of wire::OpDetailRecord with the dtype "other"; "" when no sizes were recorded
};
// nullopt for any other message.
std::optional<EmittedOp> ParseEmittedOp(std::string_view message);

// The category for the names that people use: "forward", "backward", "optimizer", "dataloader", and PyTorch's
// "Optimizer.step#SGD.step", "enumerate(DataLoader)#…"; else kUser.
RangeCategory CategoryOfRange(std::string_view message);

// How surely a range is one training step: 3 for "step", "ProfilerStep#7", "train_step 7", 2 for "iteration 7" and
// "iter 7", 1 for "batch 7"; 0 if it is not one.
int StepLikeness(std::string_view message);
std::string_view StepStem(std::string_view message);  // without the number: "train_step"

// Letters in names that tools write: ASCII, whatever the locale.
constexpr bool IsDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

inline std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

}  // namespace loopscope
