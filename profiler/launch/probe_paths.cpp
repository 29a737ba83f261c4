#include "profiler/launch/probe_paths.h"

namespace loopscope {

namespace fs = std::filesystem;

Result<ProbePaths> FindProbes(const fs::path& executable_folder) {
  std::error_code error;
  for (const char* beside : {"probes", "../lib/loopscope"}) {
    const fs::path folder = fs::weakly_canonical(executable_folder / beside, error);
    ProbePaths probes{.preload = folder / "libloopscope_preload.so",
                      .nvtx = folder / "libloopscope_nvtx.so",
                      .cupti = folder / "libloopscope_cupti.so",
                      .python = folder / "python" / "site",
                      .nccl = folder / "libloopscope_nccl.so",
                      .calls = folder / "libloopscope_calls.so"};
    if (!fs::exists(probes.preload, error)) continue;
    for (fs::path* optional : {&probes.nvtx, &probes.cupti, &probes.nccl, &probes.calls}) {
      if (!fs::exists(*optional, error)) optional->clear();
    }
    if (!fs::exists(probes.python / "sitecustomize.py", error)) probes.python.clear();
    if (probes.preload.native().find_first_of(" :") != std::string::npos) {
      return Error{"the path holds a blank or a colon, which LD_PRELOAD cannot carry", probes.preload,
                   "move Loopscope to another folder"};
    }
    return probes;
  }
  return Error{"the probes are missing: no libloopscope_preload.so in probes/ or ../lib/loopscope/", executable_folder,
               "build them with `make build`, or keep the executable beside its probes folder"};
}

fs::path ExecutableFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace loopscope
