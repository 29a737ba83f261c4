// The optimizer's step and what belongs to it: gradients, clipping.
#include "profiler/core/treatment.h"

namespace loopscope {

extern const Treatment kOptimizerImpl{
    .id = "optimizer.impl",
    .summary = "update all parameters in few fused operations",
    .exactness = Exactness::kNumeric,
    .cures = {"single-tensor-optimizer"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"fused", "foreach"},
    .live = true,
};

extern const Treatment kGradSetToNone{
    .id = "grad.set_to_none",
    .summary = "release gradients instead of filling them with zeros",
    .exactness = Exactness::kExactIf,
    .condition =
        "every parameter gets a gradient in every step, or the optimizer has neither momentum nor weight decay",
    .cures = {"grads-zeroed"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .live = true,
    .is_switch = true,
};

extern const Treatment kClipForeach{
    .id = "clip.foreach",
    .summary = "take gradient norms of all parameters together",
    .exactness = Exactness::kNumeric,
    .cures = {"slow-clipping"},
    .appliers = {"python", "knob:train_image", "knob:train_text"},
    .values = {"on"},
    .live = true,
    .is_switch = true,
};

}  // namespace loopscope
