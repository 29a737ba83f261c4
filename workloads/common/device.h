// The device that training computes on. The programs do not link CUDA: with device=cuda it is loaded at run time,
// and everything goes through ATen's dispatch.
#pragma once

#include <c10/core/Device.h>

#include "workloads/common/settings.h"
#include "workloads/common/task.h"

namespace loopscope::train {

// Makes the device of the settings ready, this host's LOCAL_RANK-th GPU where ranks train; before any other use of
// torch, which remembers whether there is CUDA. Throws UsageError that says what is missing.
c10::Device OpenDevice(const CommonSettings& settings);

// Whether ranks exchange their gradients by NCCL: requested, or each rank of this host has its own GPU. After
// OpenDevice(). Throws UsageError if it is requested and there are too few GPUs.
bool ExchangesByNccl(const CommonSettings& settings);

// The batch on the device; unchanged if it is there already.
Batch ToDevice(Batch batch, c10::Device device, bool non_blocking);

}  // namespace loopscope::train
