// One step as lanes of bars, small enough to draw: events too short to see are joined with their neighbours, and only
// those below the deepest row are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// Times are ns from the start of the step; clipped to the step.
struct Bar {
  std::int64_t start_ns = 0, length_ns = 0;
  std::uint32_t name = 0;   // index into StepView::names: the longest of those joined; in the lane "step" a Part
  std::uint32_t count = 1;  // events that this bar represents
  std::uint32_t place = 0;  // index into StepView::places, 0: none known
};

struct Lane {
  std::string kind;                    // "step", "training", "cpu", "worker", "device", "communication"
  std::string title;                   // "training thread", "CPU thread 4711", "GPU 0 stream 7"
  std::vector<std::vector<Bar>> rows;  // by depth, outermost first
};

struct OpTotal {
  std::uint32_t name = 0;  // index into StepView::names
  std::uint64_t count = 0;
  std::int64_t self_ns = 0;  // without its callees
};

struct StepView {
  std::uint32_t step = 0;  // index into Timeline::steps()
  std::int64_t length_ns = 0;
  std::vector<Lane> lanes;
  int lanes_left_out = 0;        // threads and streams beyond the busiest
  std::vector<OpTotal> longest;  // host ops by their own time, longest first
  std::vector<std::string> names{""}, places{""};
};

// At most `most_bars` bars, as fine as that allows: one per event when there are no more events than that. Time is
// linear in the events of the step.
StepView ViewOf(const Timeline& timeline, std::uint32_t step, std::size_t most_bars);

// The steady step of median length, and the longest; kNone when there are no steady steps.
std::uint32_t TypicalStep(const Timeline& timeline);
std::uint32_t WorstStep(const Timeline& timeline);

}  // namespace loopscope
