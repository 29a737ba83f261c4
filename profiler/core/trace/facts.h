// Reads what was recorded once about a run (probes/facts.def): Trace::facts and RankSummary::facts, by key, and how far
// ahead a dataloader prefetches, which follows from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "probes/facts.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// As it was recorded ("on", "2", "train.py:36"); empty if it was not. `which` replaces {} in the key.
std::string_view FactOf(const FactMap& facts, facts::Key key, std::string_view which = "");
std::string_view FactOf(const Trace& trace, facts::Key key, std::string_view which = "");

// nullopt when none was recorded, or it is not a whole number.
std::optional<std::int64_t> NumberFact(const FactMap& facts, facts::NumberKey key, std::string_view which = "");
std::optional<std::int64_t> NumberFact(const Trace& trace, facts::NumberKey key, std::string_view which = "");

// How far ahead a program's dataloader prefetches, as recorded by probes.
struct LoaderDepth {
  int workers = 0;
  int prefetch = 2;  // batches per worker: the default of LibTorch's and of PyTorch's loader

  int run_ahead() const { return workers * prefetch; }  // batches; 0 none or unknown
};

LoaderDepth LoaderDepthOf(const Trace& trace);

}  // namespace loopscope
