#include "probes/preload/loop.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/mutex_guard.h"
#include "probes/preload/call_stack.h"
#include "probes/preload/calls.h"
#include "probes/preload/ending.h"
#include "probes/preload/follow/following.h"
#include "probes/preload/lifetimes.h"
#include "probes/preload/live.h"
#include "probes/preload/op_load.h"
#include "probes/preload/passes.h"
#include "probes/preload/process/devices.h"
#include "probes/preload/process/usage.h"
#include "probes/preload/program_facts.h"
#include "probes/preload/step_sums.h"
#include "probes/preload/turns.h"

namespace loopscope::loop {
namespace {

using capture::NowNs;
using capture::WriteMark;
using capture::WriteMarkAt;
using wire::MarkKind;
using wire::RangeCategory;

constexpr int kFirstStacks = 16;  // ranges of each category that carry a stack outside the detail window
constexpr int kFirstLosses = 3;   // kept of each of several ranks while tracing
constexpr std::uint64_t kResidentEveryNs = 20'000'000;  // asking /proc takes some 10 us, too much for a short step

Settings settings;
std::atomic<bool> active{false};
std::atomic<std::uint32_t> gate{0};
std::atomic<const TorchHooks*> hooks{nullptr};
std::atomic<void (*)()> finishing{nullptr};

// Guards what follows; held for the bookkeeping only, never while the program's code runs.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
StepClock clock_choice;
RunWindow window;
OpLoad op_load;
Passes passes;
std::uint64_t sample_hash = 0;
bool detail_marked = false, ops_marked = true, follows = false;
bool ops_throughout = true, detail_throughout = false;  // since the step at hand began
std::uint64_t last_step_ns = 0;                         // when the one before ended
bool ended = false;
std::atomic<bool> device_awaited{false};  // the next step ends once the devices have caught up
std::array<std::atomic<int>, 16> stacks_taken{};
std::atomic<bool> backward_ticks{true};  // the end of a backward pass may still turn out to be what ends a step

constinit thread_local int backward_depth = 0;
constinit thread_local int optimizer_depth = 0;
constinit thread_local StepSums step_sums;

// The time of steps and epochs: it stands still while the program waits for its turn.
std::uint64_t LoopTime(std::uint64_t time_ns) noexcept {
  return time_ns - turns::WaitedNs(time_ns);
}
std::uint64_t LoopNow() noexcept {
  return LoopTime(NowNs());
}

void RangeUntilNow(RangeCategory category, std::string_view name, std::uint64_t begin_ns,
                   std::uint64_t value) noexcept {
  if (Tracing()) Range(category, name, begin_ns, NowNs(), value, true);
}

void Notify(Moment moment) noexcept {
  const TorchHooks* known = hooks.load(std::memory_order_acquire);
  if (known == nullptr) return;
  const std::uint32_t wanted = known->wanted->load(std::memory_order_relaxed);
  if ((wanted >> static_cast<unsigned>(moment) & 1) != 0) known->moment(moment);
}

std::uint32_t StackFor(RangeCategory category) noexcept {
  auto& taken = stacks_taken[static_cast<std::size_t>(category)];
  const bool first = taken.load(std::memory_order_relaxed) < kFirstStacks;
  if (!first && (gate.load(std::memory_order_relaxed) & kGateDetail) == 0) return 0;
  if (first) taken.fetch_add(1, std::memory_order_relaxed);
  return CallStackId();
}

// Under the lock.
Thinning ThinningNow() noexcept {
  // A device runs behind: what it does in a step was launched by the steps before.
  if (DevicesFollowed()) return Thinning::kNever;
  // Ranks record the same steps, or some would be held up more than others.
  return op_load.heavy() && !settings.several_ranks ? Thinning::kEarly : Thinning::kLate;
}

// Under the lock.
void UpdateGate(std::uint64_t time_ns) noexcept {
  if (settings.mode != Mode::kTrace) return;
  window.Thin(ThinningNow());
  const bool ops = window.record_ops() || follows, detail = window.detail();
  gate.store((ops ? kGateOps : 0u) | (detail ? kGateDetail : 0u), std::memory_order_relaxed);
  if (ops != ops_marked) WriteMarkAt(time_ns, ops ? MarkKind::kOpsBegin : MarkKind::kOpsEnd);
  if (detail != detail_marked) WriteMarkAt(time_ns, detail ? MarkKind::kDetailBegin : MarkKind::kDetailEnd);
  // What the report says in detail it says of these steps. The first are kept with all that was before them.
  if (detail != detail_marked) capture::KeepOperators(detail, time_ns);
  ops_throughout &= ops_marked = ops;
  detail_throughout &= detail_marked = detail;
}

// Under the lock.
void WriteEpoch(const Passes::Epoch& epoch) noexcept {
  if (epoch.end_ns != 0) WriteMarkAt(epoch.end_ns, MarkKind::kEpochEnd);
  if (epoch.start_ns == 0) return;
  WriteMarkAt(epoch.start_ns, MarkKind::kEpochStart);
  window.EpochStarted();
  UpdateGate(NowNs());
}

void OpenWindow(std::uint64_t time_ns) noexcept {
  WriteMarkAt(time_ns, MarkKind::kMeasureBegin);
  if (settings.window.detail == 0) capture::KeepOperators(false, time_ns);
  if (settings.mode == Mode::kTrace) ProcessorsWindowOpens();
  if (!ResetPeak())
    WriteMark(MarkKind::kProbeOff, "peak memory covers the whole run: /proc/self/clear_refs is not writable");
}

void CloseWindow(std::uint64_t time_ns) noexcept {
  WriteMarkAt(time_ns, MarkKind::kMeasureEnd, {}, window.measured());
  ProcessorsWindowCloses();
}

// Under the lock. The clock's name is nearly always the one before.
std::uint32_t ClockNameId(std::string_view name) noexcept {
  static char known[64];
  static std::size_t length = 0;
  static std::uint32_t id = 0;
  if (id != 0 && name == std::string_view(known, length)) return id;
  id = capture::StringId(name);
  length = std::min(name.size(), sizeof known);
  std::memcpy(known, name.data(), length);
  return id;
}

// Under the lock. `at_its_end`: it ends just now, on this thread.
void WriteStep(std::string_view clock, std::uint64_t time_ns, std::uint64_t samples, bool at_its_end) noexcept {
  const StepSums::Taken taken = at_its_end ? step_sums.Take(last_step_ns, time_ns) : StepSums::Taken{};
  const unsigned bits = (taken.whole ? wire::kStepSummed : 0u) | (window.warming_up() ? wire::kStepWarmUp : 0u) |
                        (ops_throughout ? wire::kStepOperators : 0u) | (detail_throughout ? wire::kStepDetailed : 0u) |
                        (following::Follows() ? wire::kStepFollowed : 0u);
  capture::WriteStep(time_ns, ClockNameId(clock), samples, static_cast<std::uint8_t>(bits), taken.ns);
  last_step_ns = time_ns;
}

// Under the lock.
WindowActions OneStep(std::string_view name, std::uint64_t time_ns, std::uint64_t samples, bool now,
                      bool at_its_end) noexcept {
  WriteStep(name, time_ns, samples, at_its_end);
  capture::AllowHelper();
  passes.StepEnded(time_ns);
  op_load.StepEnded(time_ns, capture::ThreadBytes() / sizeof(wire::OpRecord), window.weighs_ops() && !follows);
  if (window.awaits_common_end()) window.EndAt(AgreedEnd(settings));
  // Ranks wait for each other: a clock of one of them would end it alone.
  if (!settings.several_ranks && live::EndsWithThisStep(time_ns)) window.EndWithThisStep();
  const WindowActions actions = window.StepEnded(time_ns, now);
  if (actions.measure_begin) OpenWindow(time_ns);
  if (actions.measure_end) CloseWindow(time_ns);
  if (actions.propose_end != 0) window.EndAt(ProposeEnd(settings, actions.propose_end));
  return actions;
}

void WriteTotals(int status) noexcept {
  if (auto* finish = finishing.exchange(nullptr)) finish();
  if (const TorchHooks* known = hooks.load(std::memory_order_acquire)) known->finish();
  if (const std::uint64_t peak = PeakBytes()) WriteMark(MarkKind::kPeakBytes, "host", peak);
  if (settings.mode == Mode::kTrace) {
    WriteModules();
    capture::WriteFact("memory.limit_bytes", MemoryLimitBytes());
    WriteProgramFacts();
  }
  WriteMark(MarkKind::kCleanEnd, {}, static_cast<std::uint64_t>(status));
}

// Claims the end for the caller: it happens once.
bool TakeEnd() noexcept {
  const MutexGuard guard(lock);
  if (ended) return false;
  ended = true;
  gate.store(0, std::memory_order_relaxed);
  WriteEpoch(passes.CloseExhausted());
  return true;
}

void NoteResidentBytes(std::uint64_t now_ns) noexcept {
  static std::atomic<std::uint64_t> due_ns{0};
  if (settings.mode != Mode::kTrace || now_ns < due_ns.load(std::memory_order_relaxed)) return;
  due_ns.store(now_ns + kResidentEveryNs, std::memory_order_relaxed);
  WriteMark(MarkKind::kResidentBytes, {}, ResidentBytes());
}

void Tick(StepClock::Kind kind, const void* object, std::string_view name, std::uint64_t parameters,
          std::uint64_t samples) noexcept {
  bool stepped = false;
  WindowActions actions;
  // A GPU is behind its host: what was launched in a timed window or block is done in it.
  if (device_awaited.load(std::memory_order_relaxed)) SynchroniseDevices();
  const std::uint64_t now_ns = LoopNow();
  {
    const MutexGuard guard(lock);
    if (ended) return;
    clock_choice.Tick(kind, object, name, parameters, now_ns, passes.samples_total(), samples,
                      [&](std::string_view clock, std::uint64_t time_ns, std::uint64_t count) {
                        if (actions.finish) return;  // held back, and beyond the end
                        stepped = true;
                        const bool at_its_end = time_ns == now_ns;
                        const WindowActions one =
                            OneStep(clock, time_ns, count, kind > StepClock::Kind::kBackward || at_its_end, at_its_end);
                        actions.measure_begin |= one.measure_begin;
                        actions.measure_end |= one.measure_end;
                        actions.finish = one.finish;
                      });
    if (stepped) {
      follows = following::Next(now_ns, window) && !actions.finish;
      UpdateGate(now_ns);
      ops_throughout = ops_marked;
      detail_throughout = detail_marked;
    }
    if (clock_choice.settled_on_other_than(StepClock::Kind::kBackward)) {
      backward_ticks.store(false, std::memory_order_relaxed);
    }
  }
  if (!stepped) return following::Prepare();
  following::Turn(false);
  NoteResidentBytes(now_ns);
  if (settings.mode == Mode::kTrace) lifetimes::StepEnded((gate.load(std::memory_order_relaxed) & kGateDetail) != 0);
  live::StepEnded(now_ns, actions.measure_begin, actions.measure_end);
  Notify(Moment::kStepEnd);
  turns::StepEnded(actions.measure_begin, actions.measure_end);
  if (actions.finish && TakeEnd()) {
    StartWatchdog(settings);
    if (!settings.several_ranks) Notify(Moment::kLoopEnd);  // ranks would wait for each other there
    WriteTotals(0);
    EndProgram(settings);
  }
  device_awaited.store(settings.mode == Mode::kClock && (window.at_edge() || live::SwitchesNext() || turns::EndsNext()),
                       std::memory_order_relaxed);
  following::Turn(follows);
}

}  // namespace

void Start(const Settings& from) noexcept {
  settings = from;
  clock_choice.Want(settings.clock);
  window.Start(settings.window);
  live::Start();
  following::Start(settings);
  // Ranks wait for each other: none of them can be stopped alone.
  if (!settings.several_ranks) turns::Start();
  pthread_atfork([] { pthread_mutex_lock(&lock); }, [] { pthread_mutex_unlock(&lock); },
                 [] {
                   // Steps, window and end belong to the process that began them.
                   active.store(false);
                   lifetimes::Forget();
                   pthread_mutex_unlock(&lock);
                 });
  if (settings.mode == Mode::kTrace) {
    static constexpr WaitObserver waits{.now_ns = NowNs, .waited = Waited};
    gate.store(kGateOps);
    Calls().observe_waits(&waits);
    if (settings.window.detail > 0) lifetimes::Follow();
  }
  active.store(true);
}

void ProgramEnds(int status) noexcept {
  following::End();
  if (!Active() || !TakeEnd()) return;
  {
    const MutexGuard guard(lock);
    clock_choice.Settle([](std::string_view clock, std::uint64_t time_ns, std::uint64_t samples) {
      OneStep(clock, time_ns, samples, true, false);
    });
    if (window.measuring()) CloseWindow(LoopNow());
  }
  WriteTotals(status);
  FinishDevices();
  capture::Close(true);
}

bool Active() noexcept {
  return active.load(std::memory_order_relaxed);
}
bool Tracing() noexcept {
  return Active() && settings.mode == Mode::kTrace;
}

void Range(RangeCategory category, std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns,
           std::uint64_t value, bool with_stack) noexcept {
  if (!Tracing()) return;
  step_sums.Add(category, begin_ns, end_ns);
  capture::WriteRange(category, capture::StringId(name), begin_ns, end_ns, value, with_stack ? StackFor(category) : 0);
}

void SamplerReset(const void* sampler, std::uint64_t begin_ns) noexcept {
  if (!Active()) return;
  const MutexGuard guard(lock);
  sample_hash = 0;
  WriteEpoch(passes.Reset(sampler, LoopTime(begin_ns)));
}

void SamplerGave(const void* sampler, std::uint64_t begin_ns, const std::size_t* indices, std::size_t samples,
                 std::string_view name) noexcept {
  if (!Active()) return;
  bool trains = false;
  {
    const MutexGuard guard(lock);
    WriteEpoch(passes.Batch(sampler, LoopTime(begin_ns), samples));
    trains = !passes.evaluates();
    if (settings.mode == Mode::kCheck && indices != nullptr) {
      sample_hash = ChainHash(sample_hash, indices, samples);
      WriteMark(MarkKind::kSampleHash, {}, sample_hash);
    }
  }
  RangeUntilNow(RangeCategory::kLoader, name, begin_ns, samples);
  if (trains) Notify(Moment::kBatchBegin);
}

void SamplerRanOut(const void* sampler, std::uint64_t begin_ns, std::string_view name) noexcept {
  if (!Active()) return;
  bool in_flight = false, epoch_ends = false;
  {
    const MutexGuard guard(lock);
    if (passes.RanOut(sampler, LoopNow())) window.EpochEnding();
    UpdateGate(begin_ns);
    in_flight = passes.in_flight();
    epoch_ends = window.at_boundary();
  }
  if (epoch_ends) following::EpochEnds();
  RangeUntilNow(RangeCategory::kLoader, name, begin_ns, 0);
  Notify(in_flight ? Moment::kBatchBegin : Moment::kLoaderEnd);
}

// Ranks whose first losses are the same have trained on the same samples.
bool DistinguishesRanks() noexcept {
  static std::atomic<int> taken{0};
  if (settings.mode != Mode::kTrace || !settings.several_ranks) return false;
  return taken.load(std::memory_order_relaxed) < kFirstLosses && taken.fetch_add(1) < kFirstLosses;
}

void BackwardBegins(const void* roots) noexcept {
  ++backward_depth;
  if (!Active()) return;
  if (backward_depth == 1) {
    const MutexGuard guard(lock);
    WriteEpoch(passes.Backward());
  }
  Notify(Moment::kBackwardBegin);
  const TorchHooks* known = hooks.load(std::memory_order_acquire);
  if (known == nullptr || roots == nullptr || backward_depth != 1) return;
  if (settings.mode == Mode::kCheck || DistinguishesRanks()) known->backward_roots(roots);
}

void BackwardEnds(std::uint64_t begin_ns, bool threw) noexcept {
  --backward_depth;
  if (!Active()) return;
  RangeUntilNow(RangeCategory::kBackward, "backward", begin_ns, 0);
  Notify(Moment::kBackwardEnd);
  if (threw || backward_depth > 0 || !backward_ticks.load(std::memory_order_relaxed)) return;
  Tick(StepClock::Kind::kBackward, nullptr, "backward", 0, 0);
}

void GradientTaken() noexcept {
  if (!Active() || backward_depth > 0) return;
  {
    const MutexGuard guard(lock);
    WriteEpoch(passes.Backward());
  }
  Tick(StepClock::Kind::kGradient, nullptr, "gradient", 0, 0);
}

bool InBackward() noexcept {
  return backward_depth > 0;
}

void ZeroGradBegins() noexcept {
  if (Active()) Notify(Moment::kZeroGrad);
}

void ZeroGradEnds(std::uint64_t begin_ns, bool set_to_none) noexcept {
  RangeUntilNow(RangeCategory::kZeroGrad, "zero_grad", begin_ns, set_to_none ? 1 : 0);
}

const std::atomic<std::uint32_t>& Gate() noexcept {
  return gate;
}
void SetTorchHooks(const TorchHooks* given) noexcept {
  hooks.store(given, std::memory_order_release);
}
Mode RunMode() noexcept {
  return settings.mode;
}

std::uint64_t ParametersOf(const void* optimizer) noexcept {
  const TorchHooks* known = hooks.load(std::memory_order_acquire);
  return known != nullptr ? known->parameters(optimizer) : 0;
}

void OptimizerMade() noexcept {
  const MutexGuard guard(lock);
  clock_choice.ExpectOptimizer();
}

void UpdatedOutOfSight() noexcept {
  if (!Active()) return;
  const MutexGuard guard(lock);
  clock_choice.UpdatedOutOfSight();
}

void OptimizerZeroed() noexcept {
  if (!backward_ticks.load(std::memory_order_relaxed)) return;
  const MutexGuard guard(lock);
  clock_choice.OptimizerZeroed();
}

void OptimizerBegins() noexcept {
  if (optimizer_depth++ == 0 && Active()) Notify(Moment::kOptimizerBegin);
}

void OptimizerEnds(const void* optimizer, std::string_view name, std::uint64_t parameters, std::uint64_t begin_ns,
                   bool threw) noexcept {
  if (--optimizer_depth > 0 || !Active()) return;
  RangeUntilNow(RangeCategory::kOptimizer, name, begin_ns, parameters);
  if (!threw) Tick(StepClock::Kind::kOptimizer, optimizer, name, parameters, 0);
}

void Waited(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  Range(RangeCategory::kWait, "condition_variable", begin_ns, end_ns, 0, true);
}

void Output(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes) noexcept {
  Range(RangeCategory::kOutput, name, begin_ns, end_ns, bytes, true);
}

void Pause(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  Range(RangeCategory::kPause, name, begin_ns, end_ns, 0, true);
}

void UserRange(std::uint32_t name, bool is_step, std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  if (!Active()) return;
  if (Tracing()) capture::WriteRange(RangeCategory::kUser, name, begin_ns, end_ns);
  if (is_step) Tick(StepClock::Kind::kRange, nullptr, "step", 0, 0);
}

void MarkedStepEnd(std::uint64_t samples) noexcept {
  if (Active()) Tick(StepClock::Kind::kMark, nullptr, "mark", 0, samples);
}

void Mark(MarkKind kind, std::string_view name, std::uint64_t value) noexcept {
  WriteMarkAt(LoopNow(), kind, name, value);
}

void CallAtEnd(void (*finish)()) noexcept {
  finishing.store(finish);
}

}  // namespace loopscope::loop
