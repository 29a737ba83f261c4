#include "probes/preload/attach.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "probes/capture/file.h"
#include "probes/capture/records.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/calls.h"
#include "probes/preload/ending.h"
#include "probes/preload/follow/following.h"
#include "probes/preload/lifetimes.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"
#include "probes/preload/process/devices.h"
#include "probes/preload/process/usage.h"
#include "probes/preload/program_facts.h"

namespace loopscope {

// Entry of the preloaded library: active only in a process that was launched to be measured and has LibTorch mapped, or
// runs Python, which may import torch. Anywhere else (shells, launchers, build tools) it does nothing.

namespace {

bool LibTorchIsMapped() noexcept {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void*) {
               return info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "libtorch_cpu.so") != nullptr ? 1 : 0;
             },
             nullptr) != 0;
}

const char* ExecutableName() noexcept {
  static char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr && slash[1] != '\0' ? slash + 1 : "program";
}

// An exec keeps the process id, so the second image's file gets a number.
int OpenCapture(const Settings& settings) noexcept {
  capture::Options options;
  options.alone_at_first = true;
  if (settings.limit_bytes != 0) options.limit_bytes = settings.limit_bytes;
  char path[PATH_MAX];
  int error = 0;
  for (int image = 1; image < 100; ++image) {
    char number[16] = "";
    if (image > 1) std::snprintf(number, sizeof number, "-%d", image);
    std::snprintf(path, sizeof path, "%s/%.200s-%d%s.cap", settings.run_dir, ExecutableName(),
                  static_cast<int>(getpid()), number);
    error = capture::Open(path, options);
    if (error != EEXIST) break;
  }
  if (error != 0) {
    std::fprintf(stderr, "loopscope: cannot record into %s (%s); training goes on unobserved\n", path,
                 std::strerror(error));
  }
  return error;
}

void* torch_probe = nullptr;

// Binds to the program's LibTorch.
const char* LoadTorchProbe(const char* path) noexcept {
  torch_probe = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (torch_probe == nullptr) return dlerror();
  auto* attach = reinterpret_cast<decltype(&loopscope_torch_attach)>(dlsym(torch_probe, "loopscope_torch_attach"));
  return attach != nullptr ? attach(loop::Api()) : "it is not the LibTorch probe";
}

void ReportTorchProbe(const char* reason) noexcept {
  if (reason == nullptr) return;
  char text[1024];
  std::snprintf(text, sizeof text, "LibTorch probe off: %s", reason);
  capture::WriteMark(wire::MarkKind::kProbeOff, text, static_cast<std::uint64_t>(wire::ProbeId::kTorch));
  std::fprintf(stderr, "loopscope: %s; only steps are recorded\n", text);
}

void SeedLibTorch(std::uint64_t seed) noexcept {
  auto* give = reinterpret_cast<decltype(&loopscope_torch_seed)>(dlsym(torch_probe, "loopscope_torch_seed"));
  if (give != nullptr) give(seed);
}

__attribute__((constructor)) void Attach() {
  const Settings settings = ReadSettings();
  if (settings.run_dir == nullptr) return;
  PutShimInReach();
  if (!LibTorchIsMapped() || StartCapture() != nullptr) return;
  static constexpr following::Follower sampler{samples::Start, samples::Stop, true, samples::Prepare};
  following::Use(&sampler);
  if (AttachTorchProbe() != nullptr) return;
  if (settings.seed) SeedLibTorch(*settings.seed);
}

}  // namespace

bool PathBesideLibrary(const char* name, char* path, std::size_t size) noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&PathBesideLibrary), &here) == 0) return false;
  const char* slash = std::strrchr(here.dli_fname, '/');
  std::snprintf(path, size, "%.*s%s", slash != nullptr ? static_cast<int>(slash - here.dli_fname + 1) : 0,
                here.dli_fname, name);
  return true;
}

namespace {

// Beside this library: torch-2.8/libloopscope_torch.so for a program with that LibTorch, if it exists; else the one in
// its own folder.
bool FindTorchProbe(char* path, std::size_t size) noexcept {
  auto* const version = reinterpret_cast<std::uint64_t (*)()>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
  if (version != nullptr) {
    const std::uint64_t running = version();
    char name[64];
    std::snprintf(name, sizeof name, "torch-%u.%u/libloopscope_torch.so", static_cast<unsigned>(running >> 56 & 0xff),
                  static_cast<unsigned>(running >> 48 & 0xff));
    if (PathBesideLibrary(name, path, size) && access(path, R_OK) == 0) return true;
  }
  return PathBesideLibrary("libloopscope_torch.so", path, size);
}

}  // namespace

const char* StartCapture() noexcept {
  const Settings settings = ReadSettings();
  if (settings.run_dir == nullptr) return "this process was not launched to be measured";
  if (OpenCapture(settings) != 0) return "no capture can be written";
  capture::WriteMark(wire::MarkKind::kProbeOn, "preload");
  AnnounceRank(settings);
  loop::Start(settings);
  if (settings.mode == Mode::kTrace) RecordCalls();
  if (settings.mode == Mode::kTrace) {
    capture::WriteFact("process.start_ns", ProcessStartNs());
    WarmUpCallStacks();
    WriteModules();
    AttachDeviceProbe();
  }
  // Registered after LibTorch's own handlers, so it runs before LibTorch is torn down.
  on_exit([](int status, void*) { loop::ProgramEnds(status); }, nullptr);
  return nullptr;
}

const char* AttachTorchProbe(const char* path) noexcept {
  char beside[PATH_MAX];
  if (path == nullptr && FindTorchProbe(beside, sizeof beside)) path = beside;
  const char* reason = path != nullptr ? LoadTorchProbe(path) : "its own folder is unknown";
  ReportTorchProbe(reason);
  return reason;
}

namespace {

constexpr char kVariable[] = "PYTHONPATH";

bool RunsPython() noexcept {
  return dlsym(RTLD_DEFAULT, "Py_BytesMain") != nullptr;
}

bool FindShim(char (&folder)[PATH_MAX]) noexcept {
  return PathBesideLibrary("python/site", folder, sizeof folder) && access(folder, R_OK) == 0;
}

bool Holds(std::string_view list, std::string_view folder) noexcept {
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (list.substr(0, colon) == folder) return true;
    list.remove_prefix(colon == list.npos ? list.size() : colon + 1);
  }
  return false;
}

}  // namespace

void PutShimInReach() noexcept {
  char shim[PATH_MAX];
  if (!RunsPython() || !FindShim(shim)) return;
  const char* const set = std::getenv(kVariable);
  if (set == nullptr || *set == '\0') {
    setenv(kVariable, shim, 1);
    return;
  }
  if (Holds(set, shim)) return;
  char* joined = nullptr;
  if (asprintf(&joined, "%s:%s", shim, set) < 0) return;
  setenv(kVariable, joined, 1);
  std::free(joined);
}

}  // namespace loopscope

namespace loopscope::loop {

const ProbeApi* Api() noexcept {
  static const ProbeApi api{
      .version = kProbeApiVersion,
      .gate = &Gate(),
      .tracing = RunMode() == Mode::kTrace,
      .checking = RunMode() == Mode::kCheck,
      .now_ns = capture::NowNs,
      .append = [](const void* records, std::size_t bytes) { return capture::Append(records, bytes); },
      .string_id =
          [](const char* text, std::size_t length) {
            return capture::StringId({text, length});
          },
      .call_stack = CallStackId,
      .mark = [](std::uint8_t kind, const char* name,
                 std::uint64_t value) { Mark(static_cast<wire::MarkKind>(kind), name, value); },
      .fact = [](const char* key, const char* value) { capture::WriteFact(key, value); },
      .applied = [](const char* key, const char* where, const char* old_value, const char* now,
                    std::uint32_t flags) { capture::WriteApplied(key, where, old_value, now, flags); },
      .user_range = UserRange,
      .claimed = [](const char* key) { return Claimed(key); },
      .in_backward = InBackward,
      .thread_state = [] { return &capture::CurrentThread(); },
      .file_generation = &capture::FileGeneration(),
      .set_torch_hooks = SetTorchHooks,
      .set_device_hooks = SetDeviceHooks,
      .live_state = [](const char* key) { return live::State(key); },
      .live_acted = [](const char* key) { live::Acted(key); },
      .real_op_calls = Calls().real_op_calls,
      .set_op_calls = Calls().set_op_calls,
      .tensor_used = lifetimes::Used,
  };
  return Active() ? &api : nullptr;
}

}  // namespace loopscope::loop
