// What treatments change inside LibTorch: one file in treatments/ ends in one Applier constant and has one line in
// treatments/appliers.def.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probes/preload/probe_api.h"

namespace loopscope {

struct Applier {
  std::string_view key;    // "cudnn.benchmark"
  std::string_view where;  // what is changed, for the report: "at::globalContext().benchmarkCuDNN"
  // Why this value cannot be applied in this program, e.g. no such device; "" when it can.
  std::string (*refusal)(std::string_view value);
  // What stands now, in the words that values use, "" where torch does not tell; what a value turns it into. write is
  // null where the launcher set it through the environment: it is read back at the end, and that is all.
  std::string (*read)();
  void (*write)(std::string_view value);
  // For a change that holds for a part of the step only; null: it always holds and is asserted again at each moment.
  // Where `at` is set, read() is called at the end only, and says whether the change was ever in effect.
  void (*at)(Moment moment, std::string_view value);
  // How often it acted so far, where `at` is not null. Null there: it cannot be switched between steps.
  std::uint64_t (*times)();
};

// The loop reached `moment`: asserts every treatment that was asked for and is not the program's own.
void ApplyTreatments(Moment moment);
// Reads back what was asked for and reports it, once.
void ReportTreatments();
// Reads LOOPSCOPE_TREATMENT and LOOPSCOPE_LIVE_TREATMENT. Returns whether any of them is applied here.
bool AskForTreatments();

}  // namespace loopscope
