// Attaches the LibTorch probe to the preloaded library.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>

#include "probes/environment.h"
#include "probes/export.h"
#include "probes/torch/api.h"
#include "probes/torch/applier.h"
#include "probes/torch/has_cuda.h"
#include "probes/torch/measurements.h"
#include "probes/torch/ops.h"
#include "probes/torch/training.h"
#include "probes/wire.h"

namespace loopscope {

const ProbeApi* api = nullptr;

namespace {

// RecordFunction's layout comes from the headers: another minor version may differ.
std::string VersionMismatch() {
  auto* version = reinterpret_cast<std::uint64_t (*)()>(dlsym(RTLD_DEFAULT, "aoti_torch_abi_version"));
  if (version == nullptr) return "the program's torch does not report its version; built for " TORCH_VERSION;
  const std::uint64_t running = version();
  const auto major = static_cast<int>(running >> 56), minor = static_cast<int>(running >> 48 & 0xff);
  if (major == TORCH_VERSION_MAJOR && minor == TORCH_VERSION_MINOR) return "";
  return "built for torch " TORCH_VERSION ", the program has " + std::to_string(major) + "." + std::to_string(minor) +
         "; build the probes against it with -DLOOPSCOPE_PYTHON, or let --yes do so for a Python program";
}

void Switch(const char* key, bool on) {
  api->fact(key, on ? "on" : "off");
}

// Called once, after the program's own set-up.
void WriteFacts() {
  static std::atomic<bool> written{false};
  if (written.exchange(true)) return;
  api->fact("threads", std::to_string(at::get_num_threads()).c_str());
  Switch("cudnn.benchmark", at::globalContext().benchmarkCuDNN());
  Switch("cudnn.deterministic", at::globalContext().deterministicCuDNN());
  Switch("deterministic", at::globalContext().deterministicAlgorithms());
}

void ReportFailure(const std::exception& error) {
  api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), error.what(), 0);
}

// Exceptions of LibTorch must not reach the program through a probe.
template <class Body>
void Guarded(Body body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    ReportFailure(error);
  }
}

// TorchHooks::wanted. A timed trial without treatments is not called any more after its first steps.
constexpr std::uint32_t kEachMoment = ~0u, kStepEnds = 1u << static_cast<unsigned>(Moment::kStepEnd);
std::atomic<std::uint32_t> wanted{kEachMoment};

void StepEnded() {
  WriteFacts();
  if (!NoteDeviceMemory() && wanted.load(std::memory_order_relaxed) == kStepEnds) {
    wanted.store(0, std::memory_order_relaxed);
  }
}

// What is measured with the program's own torch comes after all that is recorded of it.
void LoopEnded() {
  if (!api->tracing) return;
  MeasureGains();
  MeasurePeaks();
}

const TorchHooks kHooks{
    .moment =
        [](Moment moment) {
          Guarded([&] {
            if (moment == Moment::kLoopEnd) return LoopEnded();
            if (api->tracing) ChooseCallbacks(moment);
            ApplyTreatments(moment);
            if (moment == Moment::kStepEnd) StepEnded();
          });
        },
    .wanted = &wanted,
    .backward_roots = [](const void* roots) { Guarded([&] { KeepLoss(roots); }); },
    .parameters = ParametersOf,
    .finish =
        [] {
          WriteDeviceMemoryTotals();
          Guarded([] { WriteLosses(); });
          Guarded([] { ReportTreatments(); });
        },
};

}  // namespace
}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT const char* loopscope_torch_attach(const loopscope::ProbeApi* offered) {
  using namespace loopscope;
  static std::string reason;
  if (offered == nullptr || offered->version != kProbeApiVersion) return "it belongs to another loopscope";
  if (api != nullptr) return reason.empty() ? nullptr : reason.c_str();  // a library opened late attaches at once
  api = offered;
  try {
    reason = VersionMismatch();
    if (!reason.empty()) return reason.c_str();
    api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOn), "torch " TORCH_VERSION, 0);
    api->fact("torch.version", TORCH_VERSION);
    const bool treated = AskForTreatments();
    if (api->tracing) RecordOps();
    if (!api->tracing && !treated) wanted.store(kStepEnds);
    api->set_torch_hooks(&kHooks);
  } catch (const std::exception& error) {
    reason = error.what();
    return reason.c_str();
  }
  return nullptr;
}
