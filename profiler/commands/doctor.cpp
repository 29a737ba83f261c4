#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "profiler/commands/command_table.h"
#include "profiler/commands/containment.h"
#include "profiler/commands/output_folder.h"
#include "profiler/commands/probe_paths.h"
#include "profiler/commands/program_kind.h"
#include "profiler/core/host.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kEnoughSpace = 4ull << 30;  // captures of a long diagnosis and what launches write

enum class State { kOk, kLimited, kMissing };

void Line(State state, std::string_view what, const std::string& facts, std::string_view next = "") {
  constexpr std::string_view kWords[] = {"ok", "limited", "missing"};
  fmt::print("{:<8} {:<14} {}\n", kWords[static_cast<int>(state)], what, facts);
  if (!next.empty()) fmt::print("{:<23} -> {}\n", "", next);
}

void Processor(const Host& host) {
  const std::string facts = fmt::format("{}, {} core{}", host.cpu, host.cores, host.cores == 1 ? "" : "s");
  if (host.cores > 1) {
    Line(State::kOk, "processor", facts);
  } else {
    Line(State::kLimited, "processor", facts, "with one core, loader workers take time from training");
  }
  Line(host.features.empty() ? State::kLimited : State::kOk, "16-bit maths",
       host.features.empty() ? "no avx512_bf16, amx_bf16 or avx512_fp16"
                             : fmt::format("{}", fmt::join(host.features, ", ")),
       host.features.empty() ? "amp brings little on this processor" : "");
}

void Contained(const Scratch& scratch) {
  const Containment containment = DetectContainment(scratch.path(), fs::current_path());
  if (containment.kind == ContainmentKind::kOverlay) {
    Line(containment.in_memory ? State::kLimited : State::kOk, "containment", containment.Describe(),
         containment.in_memory ? "set TMPDIR to a folder on a local disk to keep what launches write out of memory"
                               : "");
  } else if (containment.kind == ContainmentKind::kCopy) {
    Line(State::kLimited, "containment", containment.Describe(),
         "allow user namespaces, or run as root, for an overlay");
  } else {
    Line(State::kMissing, "containment", containment.Describe(), "prove and ab need --allow-writes here");
  }
  for (const std::string& note : containment.notes) Line(State::kLimited, "", note);
}

void Space(const Scratch& scratch) {
  std::error_code error;
  const fs::space_info space = fs::space(scratch.path(), error);
  const std::string facts =
      fmt::format("{:.1f} GiB free in {}", double(space.available) / (1u << 30), scratch.path().parent_path().native());
  const bool enough = !error && space.available >= kEnoughSpace;
  Line(enough ? State::kOk : State::kLimited, "disk", facts, enough ? "" : "set TMPDIR to a folder with more space");
}

void Probes() {
  const auto probes = FindProbes(ExecutableFolder());
  if (!probes) return Line(State::kMissing, "probes", probes.error().what, probes.error().next);
  const fs::path folder = probes->preload.parent_path();
  const bool torch = fs::exists(folder / "libloopscope_torch.so");
  std::string version;
  std::ifstream(folder / "torch_version") >> version;
  const std::string facts = folder.native() + (version.empty() ? "" : ", built for LibTorch " + version);
  Line(torch ? State::kOk : State::kLimited, "probes", facts,
       torch ? "" : "without libloopscope_torch.so only steps are seen");
  Line(probes->nvtx.empty() ? State::kLimited : State::kOk, "NVTX",
       probes->nvtx.empty() ? "no probe" : "ranges are seen",
       probes->nvtx.empty() ? "build with the NVTX headers of the CUDA wheels" : "");
}

void Gpu(const Host& host) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (host.gpus.empty() && !driver) return Line(State::kMissing, "GPU", "no driver: programs are seen on the CPU only");
  Line(State::kLimited, "GPU", fmt::format("{}", fmt::join(host.gpus, ", ")),
       "GPU facts are not recorded yet; the host side is");
}

void ForProgram(const std::string& word) {
  const Program program = InspectProgram(word);
  if (program.kind == ProgramKind::kMissing) {
    return Line(State::kMissing, "program", word + ": no such command", "check the spelling, or give its path");
  }
  const std::vector<std::string> libraries = LinkedLibraries(program);
  const auto torch = std::find_if(libraries.begin(), libraries.end(),
                                  [](const std::string& path) { return path.find("libtorch_cpu.so") != path.npos; });
  if (torch != libraries.end()) return Line(State::kOk, "program", "linked with " + *torch);
  const bool script = program.kind == ProgramKind::kScript;
  Line(script ? State::kLimited : State::kMissing, "program", WhyNoLibTorch(program),
       script ? "programs that the script starts are seen if they are linked with LibTorch" : "");
}

}  // namespace

Result<int> DoctorCommand(const Options& options) {
  const Host host = ThisHost();
  auto scratch = Scratch::Make();
  Processor(host);
  if (scratch) {
    Contained(*scratch);
    Space(*scratch);
  } else {
    Line(State::kMissing, "disk", scratch.error().Message(), "");
  }
  Probes();
  Gpu(host);
  if (!options.program.empty()) ForProgram(options.program.front());
  return 0;
}

}  // namespace loopscope
