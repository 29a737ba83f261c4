#include "probes/cupti/cupti_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>

#include "probes/find_function.h"

namespace loopscope {
namespace {

// Newest first. A library of one major version cannot be used with a runtime of the other.
constexpr std::array<unsigned, 2> kMajors = {13, 12};

// CUDA 12 numbers its interface one by one: 22 is 12.4, 28 is 12.9. From 13 on it is major * 10000 + ….
constexpr std::uint32_t kOldest = 22, kLastOfCuda12 = 28, kFirstOfCuda13 = 130'000;

// The error's number is missing in the oldest headers.
constexpr int kMigDeviceNotSupported = 43;

char reason[256];

const char* Why(const char* what, const char* detail) noexcept {
  std::snprintf(reason, sizeof reason, "%s%s%s", what, detail != nullptr ? ": " : "", detail != nullptr ? detail : "");
  return reason;
}

void* Open(const char* library, unsigned major, int mode) noexcept {
  char name[32];
  std::snprintf(name, sizeof name, "lib%s.so.%u", library, major);
  return dlopen(name, RTLD_NOW | mode);
}

bool IsLoaded(const char* library, unsigned major) noexcept {
  void* const found = Open(library, major, RTLD_NOLOAD);
  if (found != nullptr) dlclose(found);
  return found != nullptr;
}

// Major version of the runtime that the program has loaded; 0 if none or both.
unsigned RuntimeMajor() noexcept {
  unsigned only = 0;
  for (const unsigned major : kMajors) {
    if (!IsLoaded("cudart", major)) continue;
    if (only != 0) return 0;
    only = major;
  }
  return only;
}

void* OpenFirst(unsigned runtime, int mode) noexcept {
  for (const unsigned major : kMajors) {
    if (runtime != 0 && major != runtime) continue;
    if (void* const library = Open("cupti", major, mode)) return library;
  }
  return nullptr;
}

// torch brings its own and loads it. A library of that name on the machine may be from a newer CUDA than the program's,
// and other tools (Triton's profiler) bring one too: use the one that fits the runtime.
void* OpenLibrary(unsigned runtime) noexcept {
  if (void* const loaded = OpenFirst(runtime, RTLD_NOLOAD)) return loaded;
  return OpenFirst(runtime, RTLD_LOCAL);
}

bool FindNeeded(void* library, Cupti& cupti) noexcept {
  return Find(library, "cuptiGetVersion", cupti.get_version) &&
         Find(library, "cuptiGetResultString", cupti.result_string) &&
         Find(library, "cuptiGetCallbackName", cupti.callback_name) &&
         Find(library, "cuptiSetThreadIdType", cupti.set_thread_id_type) &&
         Find(library, "cuptiActivitySetAttribute", cupti.set_attribute) &&
         Find(library, "cuptiActivityRegisterTimestampCallback", cupti.register_timestamp) &&
         Find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
         Find(library, "cuptiActivityEnable", cupti.enable) &&
         Find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
         Find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records) &&
         Find(library, "cuptiActivityFlushAll", cupti.flush_all);
}

void FindFurther(void* library, Cupti& cupti) noexcept {
  Find(library, "cuptiActivityEnableRuntimeApi", cupti.enable_runtime);
  Find(library, "cuptiActivityEnableDriverApi", cupti.enable_driver);
  Find(library, "cuptiActivityEnableAllSyncRecords", cupti.enable_all_sync);
  Find(library, "cuptiActivityDisable", cupti.disable);
  Find(library, "cuptiGetTimestamp", cupti.timestamp);
}

}  // namespace

const char* LoadCupti(Cupti& cupti) noexcept {
  const unsigned runtime = RuntimeMajor();
  void* const library = OpenLibrary(runtime);
  if (library == nullptr) {
    return Why("CUPTI cannot be loaded", runtime != 0 ? dlerror() : "no libcupti.so.13 and no libcupti.so.12");
  }
  if (!FindNeeded(library, cupti)) return Why("the program's CUPTI is too old", dlerror());
  FindFurther(library, cupti);
  if (cupti.get_version(&cupti.version) != CUPTI_SUCCESS)
    return Why("the program's CUPTI does not report its version", nullptr);
  if (cupti.version >= kFirstOfCuda13 || (cupti.version >= kOldest && cupti.version <= kLastOfCuda12)) return nullptr;
  std::snprintf(
      reason, sizeof reason,
      "the program's CUPTI has version %u of its interface, and this probe reads %u to %u (CUDA 12.4 to 12.9) and "
      "those from %u on (CUDA 13)",
      static_cast<unsigned>(cupti.version), static_cast<unsigned>(kOldest), static_cast<unsigned>(kLastOfCuda12),
      static_cast<unsigned>(kFirstOfCuda13));
  return reason;
}

const char* CuptiAdvice(CUptiResult result) noexcept {
  switch (static_cast<int>(result)) {
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return " (the driver may be older than this CUPTI: update it)";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return " (the driver lets administrators profile only: set its option "
             "NVreg_RestrictProfilingToAdminUsers=0)";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return " (another profiling tool is using it: run without that tool)";
    case kMigDeviceNotSupported:
      return " (the device is a slice of a GPU: run on a whole one)";
    default:
      return "";
  }
}

const char* CuptiText(const Cupti& cupti, CUptiResult result) noexcept {
  const char* text = nullptr;
  return cupti.result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text : "an unknown error";
}

}  // namespace loopscope
