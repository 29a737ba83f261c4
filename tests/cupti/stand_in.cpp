// Takes CUPTI's place in tests of the collector: the entry points that it uses, a list of the calls, and failures to
// order. Takes a buffer as soon as something is enabled; hands it over with one kernel at each flush, and takes the
// next. As CUDA 12.4's (STAND_IN_MAJOR) it lacks what that one lacks.
#include "tests/cupti/stand_in.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iterator>

namespace {

loopscope::test::StandIn state;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void Log(const char* format, unsigned number) {
  pthread_mutex_lock(&lock);
  const std::size_t used = std::strlen(state.log);
  std::snprintf(state.log + used, sizeof state.log - used, format, number);
  pthread_mutex_unlock(&lock);
}

// The few names that tests ask for; ids are the stand-in's own.
const char* const kRuntime[] = {nullptr, "cudaLaunchKernel_v7000", "cudaGetDevice_v3020", "cudaStreamSynchronize_v3020",
                                "cudaMemcpyAsync_ptsz_v7000"};
const char* const kDriver[] = {nullptr, "cuLaunchKernel", "cuCtxGetCurrent"};

std::uint8_t* buffer = nullptr;
std::size_t buffer_size = 0;

void TakeBuffer() {
  if (buffer != nullptr || state.request == nullptr) return;
  std::size_t records = 0;
  state.request(&buffer, &buffer_size, &records);
  for (std::size_t i = 0; i < buffer_size; ++i) {
    if (buffer[i] != 0) Log("a buffer that is not zero\n", 0);
  }
}

void HandOver() {
  TakeBuffer();
  if (buffer == nullptr) return;
  CUpti_ActivityKernel9 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = loopscope::test::kKernelStart;
  kernel.end = kernel.start + 1000;
  kernel.name = "_Z4gemmPf";
  std::memcpy(buffer, &kernel, sizeof kernel);
  std::uint8_t* const full = buffer;
  buffer = nullptr;
  state.completed(nullptr, 0, full, buffer_size, sizeof kernel);
  if (!state.starts_late) TakeBuffer();
}

// The lock inside CUPTI, under which it calls back and counts what was dropped.
pthread_mutex_t inside = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void CompleteEmpty(bool locked) {
  std::uint8_t* empty = nullptr;
  std::size_t size = 0, records = 0;
  state.request(&empty, &size, &records);
  if (locked) pthread_mutex_lock(&inside);
  state.completed(nullptr, 0, empty, size, 0);
  if (locked) pthread_mutex_unlock(&inside);
}

}  // namespace

extern "C" {

loopscope::test::StandIn* stand_in_cupti() {
  state.complete = CompleteEmpty;
  return &state;
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = state.version != 0 ? state.version : STAND_IN_MAJOR == 12 ? 22 : 130'001;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  static char made[64];
  std::snprintf(made, sizeof made, "result %u", static_cast<unsigned>(result));
  *text = made;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  const std::size_t count = runtime ? std::size(kRuntime) : std::size(kDriver);
  if (id == 0 || id >= count) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = (runtime ? kRuntime : kDriver)[id];
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  Log("thread ids %u\n", type);
  return state.thread_ids_result;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t*, void*) {
  Log("attribute %u\n", attribute);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  Log(clock() > 0 ? "clock\n" : "a clock that stands\n", 0);
  return state.clock_result;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* now) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  *now = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec) +
         loopscope::test::kClockAhead;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  Log("callbacks\n", 0);
  if (state.register_result != CUPTI_SUCCESS) return state.register_result;
  state.request = request;
  state.completed = completed;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  Log("enable %u\n", kind);
  if (state.refused == 0 || state.refused == kind) {
    if (state.enable_result != CUPTI_SUCCESS) return state.enable_result;
  }
  if (!state.starts_late) TakeBuffer();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  Log("disable %u\n", kind);
  return CUPTI_SUCCESS;
}

#if STAND_IN_MAJOR > 12
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t on) {
  Log(on ? "runtime %u\n" : "runtime %u off\n", id);
  return state.call_result;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t on) {
  Log(on ? "driver %u\n" : "driver %u off\n", id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t on) {
  Log("all synchronisations %u\n", on);
  return CUPTI_SUCCESS;
}
#endif

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  auto* const first = reinterpret_cast<CUpti_Activity*>(buffer);
  if (*record == first || valid == 0) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = first;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  pthread_mutex_lock(&inside);
  *dropped = state.dropped;
  pthread_mutex_unlock(&inside);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  Log("flush %u\n", flag);
  while (state.hang_in_last_flush && flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) sleep(1);
  HandOver();
  return CUPTI_SUCCESS;
}

}  // extern "C"
