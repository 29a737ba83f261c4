// A summary of one rank, small enough that thousands fit in memory: its steps, devices and collectives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// One collective on the rank's device or, if there are none, on a CPU backend's threads (gloo). Only those that all
// ranks of a group enter together: a send, a receive and a broadcast may rightly take longer on one side.
struct RankCollective {
  std::uint32_t name = 0;      // index into RankSummary::names: "group operation"
  std::uint64_t sequence = 0;  // in its group; 0 unknown
  std::int64_t length_ns = 0;
  std::int64_t added_ns = 0;       // the part of it not covered by any that began before: several may wait at once
  bool steady = false;             // in a step that rules look at
  std::optional<Part> phase = {};  // of the step in which it was launched; empty unknown
  std::uint64_t bytes = 0;         // of its message; 0 unknown
  int ranks = 0;                   // in its group; 0 unknown
};

// A collective as a rank's flight recorder kept it: see EnteredCollective.
struct RankEntered {
  std::string group, operation;
  std::uint64_t sequence = 0;
  std::int64_t entered_ns = 0, ended_ns = 0;
  std::uint64_t bytes = 0;
  bool ended = false, between_two = false;
  std::optional<Where> where;
};

// Times are means over the steady steps, ms; without steps over the whole trace, in total.
struct RankDevice {
  std::string name;
  std::uint32_t ordinal = 0;
  double span_ms = 0, busy_ms = 0, compute_ms = 0, memory_ms = 0;
  double communication_ms = 0, exposed_ms = 0;  // exposed: while the device did nothing else
};

// DistributedDataParallel's search for parameters that get no gradient.
struct UnusedSearch {
  double per_step = 0, ms_per_step = 0;
  int passes_checked = 0;  // backward passes for which the number of parameters with a gradient is known
  int passes_unused = 0;   // … and in which some got none
  std::optional<Where> where;
};

// Text that the training thread writes: log lines, progress bars.
struct RankOutput {
  double ms_per_step = 0;
  double steps_share = 0;  // share of the steady steps in which it writes
  std::optional<Where> where;
};

struct RankSummary {
  std::string input;  // where it was read from, as a person would write it
  RunInfo run;        // rank -1: not in the trace
  int steps = 0;      // steady
  std::string why_no_steps;
  double mean_step_ms = 0;
  std::optional<double> loader_wait_ms, communication_ms;  // of the training thread, per step
  bool communication_seen = false;                         // else own_ms() includes any waiting there
  std::vector<float> own_step_ms;  // by steady step: its wall time without waiting in communication, see own_ms()
  std::vector<RankDevice> devices;
  std::string why_no_devices;  // why part of what they did is not in the trace; empty when all is
  std::vector<std::string> names;
  std::vector<RankCollective> collectives;  // by start
  std::vector<RankEntered> entered;         // in order; of all ranks of a run where any has a flight recorder's dump
  std::uint64_t events = 0;
  int all_steps = 0;  // with warm-up and epoch boundaries
  Interval trained;   // from the first of them to the last, by the trace's own clock
  FactMap facts;      // as in Trace
  Knobs knobs;
  std::vector<double> first_losses;  // of the run's first backward passes, where a probe recorded them
  double gradient_exchanges = 0;     // collectives inside backward passes, per step
  UnusedSearch unused_search;
  RankOutput output;

  // A step without the time in which the rank only communicated: on the device if one was recorded, else while the
  // training thread ran no operator. Longest on the rank that the others wait for. 0 without steps.
  double own_ms() const;
  double exposed_ms() const;  // the rest of the step
};

RankSummary SummarizeRank(const Timeline& timeline, std::string input);

}  // namespace loopscope
