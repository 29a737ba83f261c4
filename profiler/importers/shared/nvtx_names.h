// What the messages of NVTX ranges mean, in any trace format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

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

}  // namespace loopscope
