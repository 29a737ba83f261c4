// What reports say in words, the same in every format: one sentence or phrase each, on one line. Texts from outside are
// printable and cut to a sensible length, but not escaped for any format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

bool Known(const std::optional<double>& value);  // present and finite

std::string PartText(Part part);                   // "loader wait"
std::string ComparisonText(const Comparison& of);  // "was 12.3 ms, is 14.0 ms: +14 %"
std::string RunText(const RunInfo& run);           // "2026-11-21T09:00:00Z, AMD EPYC, 2 cores, torch 2.11.0"
std::string GainText(const CombinedRow& all);      // "2.43x [2.31, 2.55] with 2 fixes together, 95% CI, n=6"
std::string DataText(const Quality& quality);      // "1.20 M events, 3 dropped, ended in order"

// "loop.cpp:120 in TrainEpoch"; relative to `directory` when inside it.
std::string PlaceText(const Where& where, const std::string& directory);
// With the program's line that leads to it: "solver/steps.py:80 in step, called at train.py:12 in main". It has a
// place.
std::string PlaceText(const Evidence& evidence, const std::string& directory);
// "loader.workers=2", or only the key when no value is known.
std::string TreatmentText(std::string_view key, std::string_view value);
// What became of a finding's treatment where the report has trials of it: "amp: slower (0.79x)"; else empty.
std::string TriedText(const Report& report, const Finding& finding);

std::string SpeedupText(const TrialRow& trial);                           // with interval, n and p; or "not measured"
std::string VerdictText(const TrialRow& trial, const NoiseFacts& noise);  // "equivalent within ±2 %, alone"
std::string ChecksText(const TrialRow& trial);  // is training the same, memory, what was changed; may be empty

// The code example in the language of the program that was run, else in any; null when there is none.
const CodeExample* ExampleFor(const Finding& finding, const RunInfo& run);

// What to run next, and what it does.
struct NextStep {
  std::string what;
  std::vector<std::string> command;  // empty: nothing to say
};
NextStep NextOf(const Report& report);

}  // namespace loopscope
