// Treatments inside LibTorch: one file in treatments/ ends in one Applier constant and has one line in
// treatments/appliers.def.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "probes/preload/probe_api.h"

namespace loopscope {

struct Applier {
  std::string_view key;    // "cudnn.benchmark"
  std::string_view where;  // the changed setting, for the report: "at::globalContext().benchmarkCuDNN"
  // Why this value cannot be applied in this program, e.g. no such device; "" when it can.
  std::string (*refusal)(std::string_view value);
  // The current setting, spelled like the values, "" if torch does not expose it; and the setter. write is null if the
  // launcher sets it through the environment: then it is only read back at the end.
  std::string (*read)();
  void (*write)(std::string_view value);
  // For a change that holds for only a part of the step; null: it always holds and is reasserted at each moment. If
  // `at` is set, read() is called only at the end, and returns whether the change was ever in effect.
  void (*at)(Moment moment, std::string_view value);
  // How often it has acted, if `at` is not null. Null then: it cannot be switched between steps.
  std::uint64_t (*times)();
};

// The loop reached `moment`: asserts every requested treatment that the program does not apply itself.
void ApplyTreatments(Moment moment);
// Reads back the requested treatments and reports them, once.
void ReportTreatments();
// Reads LOOPSCOPE_TREATMENT and LOOPSCOPE_LIVE_TREATMENT. Returns whether any of them is applied here.
bool AskForTreatments();

}  // namespace loopscope
