#include "probes/cupti/collector.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "probes/cupti/calls.h"
#include "probes/cupti/decoder.h"
#include "probes/mutex_guard.h"

namespace loopscope {
namespace {

constexpr std::size_t kBufferBytes = 4 << 20;
constexpr std::size_t kBufferAlignment = 4096;
constexpr std::size_t kKeptBuffers = 8;
constexpr int kFlushSeconds = 1;      // a flush period of CUPTI's own would hand over full buffers only
constexpr int kLastFlushSeconds = 5;  // the device may hang
// Ids are dense and end with the first unknown one after these many.
constexpr CUpti_CallbackId kMaxCallbackId = 2048;

struct Collector {
  Collector(const Cupti& library, const ProbeApi* probe_api) noexcept
      : cupti(library), api(probe_api), sampler(*probe_api), decoder(cupti, *probe_api, &sampler), pid(getpid()) {}

  Cupti cupti;
  const ProbeApi* api;
  UtilizationSampler sampler;
  Decoder decoder;
  pid_t pid;
  std::uint64_t dropped = 0;
  std::array<std::uint8_t*, kKeptBuffers> kept{};
  std::size_t kept_count = 0;
  pthread_mutex_t decoding = PTHREAD_MUTEX_INITIALIZER;  // the decoder and `dropped`
  pthread_mutex_t buffers = PTHREAD_MUTEX_INITIALIZER;   // the kept ones
  pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;    // what follows
  pthread_cond_t ended;
  bool asked_to_end = false, last_flush_done = false;
};

// Never freed: CUPTI's threads may call back until the very end.
Collector* collector = nullptr;
std::atomic<bool> on{false};

std::uint64_t Timestamp() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint8_t* TakeBuffer() noexcept {
  {
    const MutexGuard guard(collector->buffers);
    if (collector->kept_count > 0) return collector->kept[--collector->kept_count];
  }
  void* const memory = std::aligned_alloc(kBufferAlignment, kBufferBytes);
  if (memory != nullptr) std::memset(memory, 0, kBufferBytes);
  return static_cast<std::uint8_t*>(memory);
}

void GiveBackBuffer(std::uint8_t* buffer) noexcept {
  std::memset(buffer, 0, kBufferBytes);
  {
    const MutexGuard guard(collector->buffers);
    if (collector->kept_count < kKeptBuffers) {
      collector->kept[collector->kept_count++] = buffer;
      return;
    }
  }
  std::free(buffer);
}

// Without a buffer (null) CUPTI drops the records and counts them.
void CUPTIAPI RequestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = TakeBuffer();
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI BufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                              std::size_t valid) {
  if (buffer == nullptr) return;
  if (on.load(std::memory_order_acquire)) {
    const MutexGuard guard(collector->decoding);
    collector->decoder.Decode(buffer, valid);
    std::size_t dropped = 0;
    if (collector->cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) collector->dropped += dropped;
  }
  GiveBackBuffer(buffer);
}

// Calls `visit` with the id of each call of the domain that is worth recording.
template <class Visit>
void ForEachRecordedCall(const Cupti& cupti, CUpti_CallbackDomain domain, const Visit& visit) noexcept {
  for (CUpti_CallbackId id = 1; id < kMaxCallbackId; ++id) {
    const char* name = nullptr;
    if (cupti.callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (IsRecordedCall(name)) visit(id);
  }
}

// Kinds that are needed; of the others, those that work are recorded.
CUptiResult EnableKinds(const Cupti& cupti) noexcept {
  constexpr auto kNeeded = std::to_array<CUpti_ActivityKind>({CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                                              CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                              CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET});
  constexpr auto kFurther = std::to_array<CUpti_ActivityKind>(
      {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
  for (const CUpti_ActivityKind kind : kNeeded) {
    if (const CUptiResult result = cupti.enable(kind); result != CUPTI_SUCCESS) return result;
  }
  for (const CUpti_ActivityKind kind : kFurther) cupti.enable(kind);
  cupti.enable_all_sync(0);
  // One by one: the kind as a whole, enabled later, would override them.
  ForEachRecordedCall(cupti, CUPTI_CB_DOMAIN_RUNTIME_API, [&](CUpti_CallbackId id) { cupti.enable_runtime(id, 1); });
  ForEachRecordedCall(cupti, CUPTI_CB_DOMAIN_DRIVER_API, [&](CUpti_CallbackId id) { cupti.enable_driver(id, 1); });
  return CUPTI_SUCCESS;
}

CUptiResult TurnOn(const Cupti& cupti) noexcept {
  // The clock first and once: a second registration spoils the records in flight.
  if (const CUptiResult result = cupti.register_timestamp(Timestamp); result != CUPTI_SUCCESS) return result;
  if (const CUptiResult result = cupti.register_callbacks(RequestBuffer, BufferCompleted); result != CUPTI_SUCCESS) {
    return result;
  }
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  cupti.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  return EnableKinds(cupti);
}

timespec In(int seconds) noexcept {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  return until;
}

// Every second, asks for what lies in buffers that are not full and samples the devices; at the end, asks for
// everything.
void* FlushPeriodically(void*) {
  bool last = false;
  while (!last) {
    {
      const MutexGuard guard(collector->ending);
      const timespec until = In(kFlushSeconds);
      if (!collector->asked_to_end) pthread_cond_timedwait(&collector->ended, &collector->ending, &until);
      last = collector->asked_to_end;
    }
    collector->cupti.flush_all(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    if (!last) collector->sampler.Sample();
  }
  const MutexGuard guard(collector->ending);
  collector->last_flush_done = true;
  pthread_cond_broadcast(&collector->ended);
  return nullptr;
}

// The program's signals are not for this thread.
bool StartFlushing() noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, FlushPeriodically, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_detach(thread);
  return started;
}

bool WaitForLastFlush() noexcept {
  const MutexGuard guard(collector->ending);
  collector->asked_to_end = true;
  pthread_cond_broadcast(&collector->ended);
  const timespec until = In(kLastFlushSeconds);
  while (!collector->last_flush_done) {
    if (pthread_cond_timedwait(&collector->ended, &collector->ending, &until) != 0) return collector->last_flush_done;
  }
  return true;
}

void WriteFact(const char* key, std::uint64_t number) noexcept {
  char text[32];
  std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(number));
  collector->api->fact(key, text);
}

void WriteCounts() noexcept {
  const MutexGuard guard(collector->decoding);
  const DecoderCounts& counts = collector->decoder.counts();
  WriteFact("cupti.records", counts.records);
  WriteFact("cupti.dropped", collector->dropped + counts.not_written);
  WriteFact("cupti.bad_times", counts.no_time + counts.backwards);
  WriteFact("cupti.torn_buffers", counts.torn);
  WriteFact("cupti.overhead_ns", counts.overhead_ns);
}

}  // namespace

const char* StartCollector(const Cupti& cupti, const ProbeApi* api) noexcept {
  static char reason[256];
  collector = new (std::nothrow) Collector(cupti, api);
  if (collector == nullptr) return "out of memory";
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&collector->ended, &clock);
  on.store(true, std::memory_order_release);
  const CUptiResult result = TurnOn(cupti);
  if (result == CUPTI_SUCCESS && StartFlushing()) {
    pthread_atfork(nullptr, nullptr, [] { on.store(false, std::memory_order_relaxed); });
    // After CUPTI's own, hence called before CUPTI goes.
    std::atexit(FinishCollector);
    return nullptr;
  }
  on.store(false, std::memory_order_release);
  std::snprintf(reason, sizeof reason, "%s%s",
                result == CUPTI_SUCCESS ? "its thread cannot be started" : CuptiText(cupti, result),
                CuptiAdvice(result));
  return reason;
}

void FinishCollector() noexcept {
  static std::atomic<bool> finished{false};
  if (!on.load(std::memory_order_acquire) || getpid() != collector->pid || finished.exchange(true)) return;
  if (!WaitForLastFlush()) {
    collector->api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff),
                         "the GPU's last records are missing: CUPTI did not hand them over in time", 0);
  }
  WriteCounts();
}

}  // namespace loopscope
