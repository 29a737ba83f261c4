// Ways of training compared by the time that they take to reach a target metric, over several seeds. A run that never
// reached it is censored: it has a lower bound and no time.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace loopscope {

// A metric and the value it has to reach; with `at_least` false, it has to come down to it.
struct Target {
  std::string metric;  // "accuracy"
  double value = 0;
  bool at_least = true;
};

// How a launch is followed: the target, and a regex for the metric in the program's output; empty: marks report it.
struct TargetWatch {
  Target target;
  std::string regex;
};

struct TargetRun {
  int block = 0;  // the seed's number
  bool reached = false;
  double seconds = 0;                    // from the program's start; the limit for a censored run
  std::optional<double> steps, samples;  // until then
  std::optional<double> last;            // the metric's best value
  std::string status;                    // "reached", "not within the limit", "ended without it", or what went wrong
};

struct TargetArm {
  std::string name;  // "baseline", "schedule=onecycle"
  int reached = 0;
  std::optional<double> median_s, median_steps, median_samples;  // Kaplan-Meier; absent when half never reached it
  std::vector<TargetRun> runs;
};

// The ratio baseline / treated of what it takes to get there; above 1 is better. An absent end is open, because
// censored runs bound it from one side only.
struct TargetRatio {
  std::optional<double> estimate, low, high;
};

struct TargetComparison {
  std::string name;  // of the treated arm
  int n = 0;         // seeds
  TargetRatio seconds, steps;
};

struct TargetFacts {
  Target target;
  std::string source;  // "marks" or "output"
  double limit_s = 0;  // after which a run is ended
  std::vector<TargetArm> arms;
  std::vector<TargetComparison> comparisons;
};

std::string TargetText(const Target& target);  // "accuracy >= 0.9"

}  // namespace loopscope
