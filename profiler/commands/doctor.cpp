#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "profiler/cli/command.h"
#include "profiler/containment/containment.h"
#include "profiler/containment/output_folder.h"
#include "profiler/core/host.h"
#include "profiler/launch/probe_build.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/launch/program.h"
#include "profiler/system/signals.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kEnoughSpace = 4ull << 30;  // for captures of a long diagnosis and files of launches

enum class State { kOk, kLimited, kMissing };

constexpr std::size_t kFactColumn = 24;

// One line per check, with advice below it.
class Sheet {
 public:
  void Line(State state, std::string_view what, const std::string& facts, std::string_view next = "") {
    constexpr std::string_view kWords[] = {"ok", "limited", "missing"};
    constexpr Style kStyles[] = {Style::kGreen, Style::kYellow, Style::kRed};
    const int index = static_cast<int>(state);
    page_.Entry(kFactColumn, {fmt::format("{:<8} {:<14}", kWords[index], what), kStyles[index]}, {facts});
    if (!next.empty()) page_.Entry(kFactColumn + 3, {std::string(kFactColumn, ' ') + "->"}, {next});
  }
  const Output& output() const { return output_; }

 private:
  Output output_ = StandardOutput();
  Page page_{output_};
};

void Processor(const Host& host, Sheet& sheet) {
  const std::string facts = fmt::format("{}, {} core{}", host.cpu, host.cores, host.cores == 1 ? "" : "s");
  if (host.cores > 1) {
    sheet.Line(State::kOk, "processor", facts);
  } else {
    sheet.Line(State::kLimited, "processor", facts, "with one core, loader workers take time from training");
  }
  sheet.Line(host.features.empty() ? State::kLimited : State::kOk, "16-bit maths",
             host.features.empty() ? "no avx512_bf16, amx_bf16 or avx512_fp16"
                                   : fmt::format("{}", fmt::join(host.features, ", ")),
             host.features.empty() ? "amp brings little on this processor" : "");
}

void Contained(const Scratch& scratch, Sheet& sheet) {
  const Containment containment = DetectContainment(scratch.path(), fs::current_path());
  if (containment.kind == ContainmentKind::kOverlay) {
    sheet.Line(containment.in_memory ? State::kLimited : State::kOk, "containment", containment.Describe(),
               containment.in_memory
                   ? "set TMPDIR to a folder on a local disk to keep what launches write out of memory"
                   : "");
  } else if (containment.kind == ContainmentKind::kCopy) {
    sheet.Line(State::kLimited, "containment", containment.Describe(),
               geteuid() == 0 ? "allow mounts in this chroot or container, for an overlay"
                              : "allow user namespaces, or run as root, for an overlay");
  } else {
    sheet.Line(State::kMissing, "containment", containment.Describe(), "prove and ab need --allow-writes here");
  }
  for (const std::string& note : containment.notes) sheet.Line(State::kLimited, "", note);
}

void Space(const Scratch& scratch, Sheet& sheet) {
  std::error_code error;
  const fs::space_info space = fs::space(scratch.path(), error);
  const std::string facts = fmt::format("{:.1f} GiB free in {}", static_cast<double>(space.available) / (1u << 30),
                                        scratch.path().parent_path().native());
  const bool enough = !error && space.available >= kEnoughSpace;
  sheet.Line(enough ? State::kOk : State::kLimited, "disk", facts,
             enough ? "" : "set TMPDIR to a folder with more space");
}

void Probes(Sheet& sheet) {
  const auto probes = FindProbes(ExecutableFolder());
  if (!probes) return sheet.Line(State::kMissing, "probes", probes.error().what, probes.error().next);
  const fs::path folder = probes->preload.parent_path();
  const bool torch = fs::exists(folder / "libloopscope_torch.so");
  std::string version;
  std::ifstream(folder / "torch_version") >> version;
  std::vector<std::string> versions = OtherTorches(*probes);
  if (!version.empty()) versions.insert(versions.begin(), version);
  const std::string facts =
      folder.native() + (versions.empty() ? "" : fmt::format(", built for LibTorch {}", fmt::join(versions, ", ")));
  sheet.Line(torch ? State::kOk : State::kLimited, "probes", facts,
             torch ? "" : "without libloopscope_torch.so only steps are seen");
  sheet.Line(probes->nvtx.empty() ? State::kLimited : State::kOk, "NVTX",
             probes->nvtx.empty() ? "no probe" : "ranges are seen",
             probes->nvtx.empty() ? "build with the NVTX headers of the CUDA wheels" : "");
}

// The CUDA major version: 13 in "2.11.0+cu130", 12 for a driver's 12040; 0 if unknown. From the program's torch, else
// from the one that the probes are for; a package has probes for several.
int CudaMajorOfTorch(const ProbePaths& probes, const std::optional<TorchInstall>& torch) {
  std::string version;
  if (torch) {
    version = torch->version;
  } else if (OtherTorches(probes).empty()) {
    std::ifstream(probes.preload.parent_path() / "torch_version") >> version;
  }
  const std::size_t at = version.find("+cu");
  return at == version.npos ? 0 : std::atoi(version.c_str() + at + 3) / 10;
}

int CudaMajorOfDriver(void* driver) {
  auto* const ask = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return ask != nullptr && ask(&version) == 0 ? version / 1000 : 0;
}

void Gpu(const Host& host, const std::optional<TorchInstall>& torch, Sheet& sheet) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (host.gpus.empty() && driver == nullptr)
    return sheet.Line(State::kMissing, "GPU", "no driver: programs are seen on the CPU only");
  const auto probes = FindProbes(ExecutableFolder());
  const bool probe = probes && !probes->cupti.empty();
  const int has = driver != nullptr ? CudaMajorOfDriver(driver) : 0;
  const int needs = probe ? CudaMajorOfTorch(*probes, torch) : 0;
  if (has > 0 && has < needs) {
    return sheet.Line(State::kLimited, "GPU", fmt::format("the driver is of CUDA {}, torch is of CUDA {}", has, needs),
                      "what it does is not recorded: update the driver");
  }
  sheet.Line(probe ? State::kOk : State::kLimited, "GPU", fmt::format("{}", fmt::join(host.gpus, ", ")),
             probe ? "" : "what it does is not recorded: build with the CUPTI headers of the CUDA wheels");
}

void ForPython(const std::string& interpreter, const std::optional<TorchInstall>& torch, Sheet& sheet) {
  if (!torch) {
    return sheet.Line(State::kMissing, "program", "no torch in " + interpreter,
                      "activate the environment that trains, or name its Python by its path");
  }
  const auto probes = FindProbes(ExecutableFolder());
  const bool probe = probes && HasProbe(*probes, *torch);
  const std::string facts = fmt::format("torch {} of {}", torch->version, interpreter);
  sheet.Line(probe ? State::kOk : State::kLimited, "program", probe ? facts : facts + ": no probe fits it",
             probe ? "" : "--yes builds one with a C++ compiler; else only steps and loader waits are recorded");
}

void ForProgram(const std::vector<std::string>& command, const std::optional<TorchInstall>& torch, Sheet& sheet) {
  if (const auto why = WhyUnreachable(command)) return sheet.Line(State::kMissing, "program", *why);
  const std::string& word = command.front();
  const Program program = InspectProgram(word);
  const std::string interpreter = InterpreterOf(command);
  if (program.kind != ProgramKind::kMissing && !interpreter.empty()) return ForPython(interpreter, torch, sheet);
  if (program.kind == ProgramKind::kMissing) {
    return sheet.Line(State::kMissing, "program", word + ": no such command", "check the spelling, or give its path");
  }
  const std::vector<std::string> libraries = LinkedLibraries(program);
  const auto linked = std::ranges::find_if(
      libraries, [](const std::string& path) { return path.find("libtorch_cpu.so") != path.npos; });
  if (linked != libraries.end()) return sheet.Line(State::kOk, "program", "linked with " + *linked);
  const bool script = program.kind == ProgramKind::kScript;
  sheet.Line(script ? State::kLimited : State::kMissing, "program", WhyNoLibTorch(program),
             script ? "programs that the script starts are seen if they are linked with LibTorch" : "");
}

void Disk(Sheet& sheet) {
  const Signals signals;  // a signal now must not leave the folder behind
  if (auto scratch = Scratch::Make()) {
    Contained(*scratch, sheet);
    Space(*scratch, sheet);
  } else {
    sheet.Line(State::kMissing, "disk", scratch.error().Message(), "");
  }
}

Result<int> DoctorCommand(const Options& options) {
  const Host host = ThisHost();
  Sheet sheet;
  Processor(host, sheet);
  Disk(sheet);
  Probes(sheet);
  const std::string interpreter = InterpreterOf(options.program);
  const auto torch = interpreter.empty() ? std::nullopt : TorchOf(interpreter);
  Gpu(host, torch, sheet);
  if (!options.program.empty()) ForProgram(options.program, torch, sheet);
  Print(sheet.output());
  return 0;
}

}  // namespace

extern const Command kDoctorCommand{.id = "doctor",
                                    .summary = "What works on this machine, and for this program.",
                                    .usage = "doctor [-- CMD…]",
                                    .example = "loopscope doctor -- ./train",
                                    .takes = kMayTakeProgram,
                                    .run = DoctorCommand};

}  // namespace loopscope
