// What the forward pass keeps in memory for the backward pass, estimated from the sizes of operators' inputs.
#pragma once

#include "analyzers/shared/evidence.h"

namespace loopscope {

struct Activations {
  bool known = false;     // some step has details
  double bytes = 0;       // per backward pass
  double relu_bytes = 0;  // … of ReLUs that do not overwrite their input
  CallSites relus;
};

// Each operator that records a graph node without another such operator inside is taken to keep its first input that is
// not a bias; views keep nothing. Some keep more (both factors of a product), some keep less.
Activations EstimateActivations(const Timeline& timeline);

}  // namespace loopscope
