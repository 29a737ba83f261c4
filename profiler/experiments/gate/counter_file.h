// Recorded counters of workloads: what `gate --baseline FILE` compares with, and --accept writes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "profiler/core/report/counters.h"
#include "profiler/core/result.h"

namespace loopscope {

// Identifies the machine: decides whether figures of two runs are comparable.
struct Fingerprint {
  std::string cpu, torch, driver;  // empty: unknown
  int cores = 0;
  std::vector<std::string> gpus;
};
Fingerprint FingerprintOf(const RunInfo& run);

// "another CPU: A against B"; empty when both are the same machine as far as known.
std::vector<std::string> OtherMachine(const Fingerprint& recorded, const Fingerprint& here);
// The same for what determines the operators: torch's version, and whether there is a GPU.
std::vector<std::string> OtherOperators(const Fingerprint& recorded, const Fingerprint& here);

struct CounterFile {
  Fingerprint machine;
  std::vector<std::pair<std::string, Counters>> workloads;  // by command, as it could be typed

  // The only entry, whatever its command, or the entry of that command; null if there is none.
  const Counters* Find(const std::string& command, bool only) const;
};

// Errors (exit 2): no such file, not a counter file, another schema, cut short.
Result<CounterFile> ReadCounterFile(const std::filesystem::path& path);
std::string CounterFileText(const CounterFile& file);

}  // namespace loopscope
