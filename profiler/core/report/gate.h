// What `gate` found, as reports show it. Numbers are absent where unknown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/trial.h"
#include "profiler/core/statistics/gate_decision.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// A place in the candidate that accounts for a change in a counter. Counts are per step.
struct CounterPlace {
  Where where;
  double before = 0, after = 0;
};

enum class CounterKind { kSync, kDebug, kFinding, kCount };
std::string_view CounterKindName(CounterKind kind);  // "sync", "debug", "finding", "count"

// What is new, gone or changed per step, and what is not compared, with the reason.
struct CounterRow {
  std::string name;  // "host reads", "anomaly mode", "input-starvation", "op aten::copy_"
  CounterKind kind = CounterKind::kCount;
  std::optional<double> before, after;  // per step; absent for findings and switches that are off
  std::string change;                   // "new", "more", "fewer", "gone", "ignored"
  bool fails = false;
  std::string reason;  // why it fails, or why it does not count; may be empty
  std::vector<CounterPlace> places;
};

enum class GrownKind { kPart, kLine, kOperator, kKernel };
std::string_view GrownKindName(GrownKind kind);  // "part", "line", "operator", "kernel"

// What took longer per step in a traced launch of the candidate than in one of what it is gated against (WhatGrew).
struct GrownTime {
  GrownKind kind = GrownKind::kPart;
  std::string name;                 // "forward", "aten::clone"; for a line what runs there, may be empty
  std::optional<Where> where = {};  // of a line
  double before_ms = 0, after_ms = 0;
  bool touched = false;  // the other side's file has no such line
};

// One workload: a command against another, or against recorded counters.
struct GateRow {
  std::string command, against;  // as they could be typed; `against` may be a baseline's file
  GateVerdict verdict = GateVerdict::kInconclusive;
  std::string reason;                        // one sentence
  std::string error;                         // the commands could not be compared at all: what, where and what to do
  std::optional<GateDecision> time;          // absent when no pairs were launched
  std::vector<LaunchRow> launches;           // the pairs': `block` counts the pairs, arm "A" is the baseline
  std::string why_no_time, why_no_counters;  // one sentence each, or empty
  int counters_compared = 0;
  std::vector<CounterRow> counters;  // those that fail first
  std::vector<GrownTime> grown;      // where to look, when the time has failed
  std::vector<std::string> notes;
};

struct GateFacts {
  double max_slowdown = 0.05;
  std::vector<GateRow> workloads;  // at least one
};

// The worst row: a failure, then one that could not be judged, then a pass.
const GateRow& DecidingRow(const GateFacts& gate);

}  // namespace loopscope
