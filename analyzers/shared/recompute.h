// Forward operators that the backward pass runs again: activation checkpointing.
#pragma once

#include "analyzers/shared/evidence.h"

namespace loopscope {

struct Recompute {
  double ms = 0;                   // per steady step, of the operators that run again
  std::uint64_t ops = 0;           // of the outermost such operators, all steady steps
  CallSites forward;               // where the same operators run in the forward pass, as far as details show
  bool graph_of_backward = false;  // the backward pass records a graph (create_graph): no conclusion is possible
};

Recompute FindRecompute(const Timeline& timeline);

}  // namespace loopscope
