// Where to find the probes that are loaded into a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

struct ProbePaths {
  std::filesystem::path preload;    // libloopscope_preload.so, for LD_PRELOAD
  std::filesystem::path nvtx;       // libloopscope_nvtx.so, for NVTX_INJECTION64_PATH; empty when there is none
  std::filesystem::path cupti;      // libloopscope_cupti.so, for CUDA_INJECTION64_PATH; empty when there is none
  std::filesystem::path python;     // the folder for PYTHONPATH that holds the shim; empty when there is none
  std::filesystem::path nccl = {};  // libloopscope_nccl.so, for NCCL_PROFILER_PLUGIN; empty when there is none
  // libloopscope_calls.so, for LD_PRELOAD of traced launches, after `preload`; empty when there is none.
  std::filesystem::path calls = {};
};

// Looks in probes/ and ../lib/loopscope/ beside the executable. Error (exit 2): not there, or at a path that LD_PRELOAD
// cannot carry.
Result<ProbePaths> FindProbes(const std::filesystem::path& executable_folder);

// Where a package has the LibTorch probe for another torch than the one of its other probes: torch-2.8/ beside them,
// and the names of all that are there ("2.8", "2.9"), in order.
std::filesystem::path TorchProbeBeside(const ProbePaths& probes, const std::string& torch_version);
std::vector<std::string> OtherTorches(const ProbePaths& probes);

std::filesystem::path ExecutableFolder();  // of this process, from /proc/self/exe

}  // namespace loopscope
