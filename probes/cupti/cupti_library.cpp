#include "probes/cupti/cupti_library.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace loopscope {
namespace {

// CUPTI_API_VERSION is major * 10000 + …: records of another major have other layouts.
constexpr std::uint32_t kMajorUnit = 10000;

char reason[256];

const char* Why(const char* what, const char* detail) noexcept {
  std::snprintf(reason, sizeof reason, "%s%s%s", what, detail != nullptr ? ": " : "", detail != nullptr ? detail : "");
  return reason;
}

void* OpenLibrary() noexcept {
  char name[32];
  std::snprintf(name, sizeof name, "libcupti.so.%u", static_cast<unsigned>(CUPTI_API_VERSION / kMajorUnit));
  void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  return library != nullptr ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

template <class Function>
bool Find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const char* LoadCupti(Cupti& cupti) noexcept {
  void* library = OpenLibrary();
  if (library == nullptr) return Why("CUPTI cannot be loaded", dlerror());
  const bool complete = Find(library, "cuptiGetVersion", cupti.get_version) &&
                        Find(library, "cuptiGetResultString", cupti.result_string) &&
                        Find(library, "cuptiGetCallbackName", cupti.callback_name) &&
                        Find(library, "cuptiSetThreadIdType", cupti.set_thread_id_type) &&
                        Find(library, "cuptiActivitySetAttribute", cupti.set_attribute) &&
                        Find(library, "cuptiActivityRegisterTimestampCallback", cupti.register_timestamp) &&
                        Find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
                        Find(library, "cuptiActivityEnable", cupti.enable) &&
                        Find(library, "cuptiActivityEnableRuntimeApi", cupti.enable_runtime) &&
                        Find(library, "cuptiActivityEnableDriverApi", cupti.enable_driver) &&
                        Find(library, "cuptiActivityEnableAllSyncRecords", cupti.enable_all_sync) &&
                        Find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
                        Find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records) &&
                        Find(library, "cuptiActivityFlushAll", cupti.flush_all);
  if (!complete) return Why("the program's CUPTI is too old", dlerror());
  std::uint32_t version = 0;
  if (cupti.get_version(&version) != CUPTI_SUCCESS)
    return Why("the program's CUPTI does not report its version", nullptr);
  if (version / kMajorUnit == CUPTI_API_VERSION / kMajorUnit) return nullptr;
  std::snprintf(reason, sizeof reason, "the program's CUPTI is version %u, this probe was built for %u",
                static_cast<unsigned>(version / kMajorUnit), static_cast<unsigned>(CUPTI_API_VERSION / kMajorUnit));
  return reason;
}

const char* CuptiAdvice(CUptiResult result) noexcept {
  switch (result) {
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return " (the driver may be older than this CUPTI: update it)";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return " (the driver lets administrators profile only: set its option NVreg_RestrictProfilingToAdminUsers=0)";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return " (another profiling tool is using it: run without that tool)";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
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
