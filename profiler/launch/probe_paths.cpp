#include "profiler/launch/probe_paths.h"

#include <algorithm>
#include <utility>

namespace loopscope {

namespace fs = std::filesystem;

namespace {
constexpr std::string_view kOtherTorch = "torch-";
constexpr char kTorchProbe[] = "libloopscope_torch.so";
}  // namespace

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

fs::path TorchProbeBeside(const ProbePaths& probes, const std::string& torch_version) {
  const std::string minor = torch_version.substr(0, torch_version.find('.', torch_version.find('.') + 1));
  return probes.preload.parent_path() / (std::string(kOtherTorch) + minor) / kTorchProbe;
}

std::vector<std::string> OtherTorches(const ProbePaths& probes) {
  std::vector<std::string> minors;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(probes.preload.parent_path(), error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kOtherTorch) && fs::exists(entry.path() / kTorchProbe, error)) {
      minors.push_back(name.substr(kOtherTorch.size()));
    }
  }
  // 2.9 before 2.10.
  std::ranges::sort(minors, {}, [](const std::string& minor) { return std::pair(minor.size(), minor); });
  return minors;
}

fs::path ExecutableFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace loopscope
