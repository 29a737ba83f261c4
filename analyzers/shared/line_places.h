// Time by place: the lines of a step or another stretch, merged by place in the program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct PlaceTime {
  std::optional<Where> where;  // the user's line; a library's where there is none; absent: not known
  double ms = 0;
  double operators_ms = 0;             // of it, in operators
  std::string what;                    // what takes longest there: an operator or a function; "" the line's own code
  std::vector<std::string> also = {};  // further functions that take a fifth of its time or more
};

// Costliest first. `part`: only lines of that part of the step.
std::vector<PlaceTime> PlacesOf(const Timeline& timeline, std::span<const LineShare> lines,
                                std::optional<Part> part = std::nullopt);

// From occasional sightings of a line (operators, system calls), each lasting until the next one; over all of `within`,
// costliest first.
std::vector<PlaceTime> SampledPlaces(const Timeline& timeline, std::span<const Interval> within);

// Without waits for other ranks or the loader: collectives run inside backward passes. `without_training`: without
// passes and updates, too.
std::vector<LineShare> LinesOfWork(const Timeline& timeline, std::span<const Interval> within, bool without_training);

double UpdatesIn(const Timeline& timeline, std::span<const Interval> within);    // optimizers' steps
double OperatorsIn(const Timeline& timeline, std::span<const Interval> within);  // outermost ones

double TotalMs(std::span<const LineShare> lines);

// Those of `stretches` in steps whose operators were recorded; all where there are none.
std::vector<Interval> WithOperators(const Timeline& timeline, std::span<const Interval> stretches);

// "torch.tensor", or "code of its own" for a line that calls nothing.
std::string WhatText(const PlaceTime& place);

// A line's call that is known to be slow, and what to do instead: "; …", or "".
std::string HintFor(const PlaceTime& place);

}  // namespace loopscope
