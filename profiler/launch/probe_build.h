// Builds a LibTorch probe for an environment whose torch fits none of Loopscope's own probes, from the sources shipped
// with them, and keeps it in the user's cache by torch version and C++ ABI.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/system/signals.h"

namespace loopscope {

// The torch of a Python environment.
struct TorchInstall {
  std::filesystem::path folder;  // site-packages/torch
  std::string version;           // "2.10.0+cpu"
  bool cxx11_abi = true;         // of libstdc++'s strings, as torch was built with
};

// The interpreter that runs a command: the command itself, or the one in its script's first line; empty: unknown.
std::string InterpreterOf(const std::vector<std::string>& command);

// Asks the interpreter, without importing torch; nullopt: it has no torch, or cannot be asked.
std::optional<TorchInstall> TorchOf(const std::string& interpreter);

// Whether a probe that was built for `built` works with `running`: headers define the layout of what probes read, so
// the major and the minor version have to match.
bool SameTorch(const std::string& built, const std::string& running);

// Where probes for other versions are kept: <cache>/loopscope/probes/<what Loopscope's own probes were made from>.
// Empty where there are no sources or no home.
std::filesystem::path ProbeCache(const ProbePaths& probes);
std::filesystem::path CachedProbe(const std::filesystem::path& cache, const TorchInstall& torch);

// Whether there is one for this torch: Loopscope's own, one that a package brings, or one in the cache.
bool HasProbe(const ProbePaths& probes, const TorchInstall& torch);

// Compiles it, with the compiler that $CXX names, else c++, g++ or clang++. Error: no compiler or no sources, or the
// compiler's message.
Result<void> BuildProbe(const ProbePaths& probes, const TorchInstall& torch, Signals& signals);

enum class ProbeOffer {
  kUnknown,  // the command does not show which Python it runs: a shell script, `env`, `uv run`
  kSettled,  // there is a probe, or one was built, or declined, or could not be built
};

// Before a program is launched: if it is a Python program whose torch has no probe, builds one if `yes` is set or the
// user agrees on the terminal; otherwise prints on stderr what will be missing.
ProbeOffer OfferProbe(const ProbePaths& probes, const std::vector<std::string>& command, bool yes, Signals& signals);

// After a launch with its folder `run`: builds the probe that its torch lacked. Returns whether there is one now.
bool BuildMissingProbe(const ProbePaths& probes, const std::filesystem::path& run, Signals& signals);

}  // namespace loopscope
