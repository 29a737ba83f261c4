// The activations of a step: what the forward pass keeps in memory for the backward pass, and what the backward pass
// computes again instead.
#pragma once

#include "analyzers/shared/evidence.h"

namespace loopscope {

// What the forward pass keeps in memory for the backward pass, estimated from the sizes of operators' inputs.
struct Activations {
  bool known = false;     // some step has details
  double bytes = 0;       // per backward pass
  double relu_bytes = 0;  // … of ReLUs that do not overwrite their input
  CallSites relus;
};

// Each operator that records a graph node without another such operator inside is taken to keep its first input that is
// not a bias; views keep nothing. Some keep more (both factors of a product), some keep less.
Activations EstimateActivations(const Timeline& timeline);

// Forward operators that the backward pass runs again: activation checkpointing.
struct Recompute {
  double ms = 0;                   // per steady step, of the operators that run again
  std::uint64_t ops = 0;           // of the outermost such operators, all steady steps
  CallSites forward;               // where the same operators run in the forward pass, as far as details show
  bool graph_of_backward = false;  // the backward pass records a graph (create_graph): no conclusion is possible
};

Recompute FindRecompute(const Timeline& timeline);

}  // namespace loopscope
