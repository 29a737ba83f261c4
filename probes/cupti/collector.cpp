#include "probes/cupti/collector.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "probes/cupti/buffers.h"
#include "probes/cupti/clock.h"
#include "probes/cupti/decoder.h"
#include "probes/cupti/dump.h"
#include "probes/environment.h"
#include "probes/mutex_guard.h"

namespace loopscope {
namespace {

constexpr int kFlushSeconds = 1;      // a flush period of CUPTI's own would hand over full buffers only
constexpr int kLastFlushSeconds = 5;  // the device may hang

Calls WantedCalls() noexcept {
  const char* const all = std::getenv(env::kCuptiAll);
  return all != nullptr && std::strcmp(all, "1") == 0 ? Calls::kAll : Calls::kRecorded;
}

struct Collector {
  Collector(const Cupti& library, const ProbeApi* probe_api) noexcept
      : cupti(library),
        api(probe_api),
        calls(WantedCalls()),
        sampler(*probe_api),
        decoder(cupti, *probe_api, calls, &sampler),
        dump(cupti, std::getenv(env::kCuptiDump)),
        pid(getpid()) {}

  Cupti cupti;
  const ProbeApi* api;
  Calls calls;
  UtilizationSampler sampler;
  Decoder decoder;
  BufferDump dump;
  pid_t pid;
  Buffers buffers;
  std::atomic<std::uint64_t> dropped{0};
  bool clock_differs = false;                            // CUPTI's times are in a clock of its own
  pthread_mutex_t decoding = PTHREAD_MUTEX_INITIALIZER;  // the decoder and the dump
  pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;    // what follows
  pthread_cond_t ended;
  bool asked_to_end = false, last_flush_done = false;
};

// Never freed: CUPTI's threads may call back until the very end.
Collector* collector = nullptr;
std::atomic<bool> on{false};

void Mark(const char* text, wire::ProbeId off = wire::ProbeId::kNone) noexcept {
  collector->api->mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), text, static_cast<std::uint64_t>(off));
}

// Without a buffer (null) CUPTI drops the records and counts them.
void CUPTIAPI RequestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = collector->buffers.Take();
  *size = *buffer != nullptr ? Buffers::kBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI BufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                              std::size_t valid) {
  if (buffer == nullptr) return;
  if (on.load(std::memory_order_acquire)) {
    // May take a lock inside CUPTI, whose holder may be waiting for ours: never call it while holding ours.
    std::size_t dropped = 0;
    if (collector->cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) collector->dropped += dropped;
    const MutexGuard guard(collector->decoding);
    collector->dump.Add(buffer, valid);
    collector->decoder.Decode(buffer, valid);
  }
  collector->buffers.GiveBack(buffer);
}

// Repeatedly, since the other clock may be adjusted while the program runs.
bool AlignClocks() noexcept {
  if (!collector->clock_differs) return true;
  std::uint64_t shift_ns = 0;
  if (!MeasureShift(collector->cupti, shift_ns)) return false;
  const MutexGuard guard(collector->decoding);
  collector->decoder.ShiftTimes(shift_ns);
  return true;
}

CUptiResult TurnOn(const Cupti& cupti) noexcept {
  // Register the clock first, and only once: a second registration corrupts records in flight.
  const CUptiResult clock = cupti.register_timestamp(MonotonicNs);
  collector->clock_differs = clock != CUPTI_SUCCESS;
  if (!AlignClocks()) return clock;
  if (const CUptiResult result = cupti.register_callbacks(RequestBuffer, BufferCompleted); result != CUPTI_SUCCESS) {
    return result;
  }
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  cupti.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  if (cupti.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) != CUPTI_SUCCESS) {
    Mark("CUPTI does not tell the threads of calls: which operator launched a kernel may be unknown");
  }
  return EnableKinds(cupti, collector->calls);
}

timespec In(int seconds) noexcept {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += seconds;
  return until;
}

// With no buffer out there is nothing to ask for, and CUPTI may not be ready: this library is loaded while the driver
// starts, which can take seconds.
void Flush(bool last) noexcept {
  AlignClocks();
  const Buffers& buffers = collector->buffers;
  if (last ? buffers.AnyTaken() : buffers.AnyOut()) {
    collector->cupti.flush_all(last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  }
}

// Every second, requests buffers that are not full and samples the devices; at the end, requests
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
    Flush(last);
    if (!last) collector->sampler.Sample();
  }
  const MutexGuard guard(collector->ending);
  collector->last_flush_done = true;
  pthread_cond_broadcast(&collector->ended);
  return nullptr;
}

// This thread must not receive the program's signals.
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
  collector->dump.Finish();
}

// Claims the end for the caller: once, and only in the process that began.
bool TakeEnd() noexcept {
  static std::atomic<bool> taken{false};
  return on.load(std::memory_order_acquire) && getpid() == collector->pid && !taken.exchange(true);
}

void TakeTheRest() noexcept {
  if (!WaitForLastFlush()) Mark("the GPU's last records are missing: CUPTI did not hand them over in time");
  WriteCounts();
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
    // Registered after CUPTI's own handler, so called before CUPTI is torn down.
    std::atexit(FinishCollector);
    return nullptr;
  }
  DisableKinds(cupti);
  on.store(false, std::memory_order_release);
  std::snprintf(reason, sizeof reason, "%s%s",
                result == CUPTI_SUCCESS ? "its thread cannot be started" : CuptiText(cupti, result),
                CuptiAdvice(result));
  return reason;
}

void FinishCollector() noexcept {
  if (TakeEnd()) TakeTheRest();
}

void LeaveCuptiTo(const char* client) noexcept {
  if (!TakeEnd()) return;
  DisableKinds(collector->cupti);
  TakeTheRest();
  char text[160];
  std::snprintf(text, sizeof text, "what the GPU does is not recorded from here on: %s uses CUPTI", client);
  Mark(text, wire::ProbeId::kDevices);
}

}  // namespace loopscope
