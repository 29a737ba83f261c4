// NVTX ranges as user ranges of the capture, with or without a GPU: NVTX loads this library when the environment names
// it in NVTX_INJECTION64_PATH. Without the preloaded library it declines, and NVTX stays off.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <cwchar>
#include <mutex>
#include <string>
#include <unordered_map>

#include "probes/export.h"
#include "probes/preload/probe_api.h"

namespace loopscope {
namespace {

const ProbeApi* api = nullptr;

// A range's name, interned on first use.
struct Name {
  std::uint32_t id = 0;
  bool is_step = false;
};

Name NameOf(const char* text) noexcept {
  if (text == nullptr) return {};
  return {api->string_id(text, std::strlen(text)), std::strcmp(text, "step") == 0};
}

Name NameOf(const wchar_t* text) noexcept {
  if (text == nullptr) return {};
  char narrow[512];
  std::size_t length = 0;
  const auto put = [&](unsigned byte) { narrow[length++] = static_cast<char>(byte); };
  for (; *text != L'\0' && length + 4 < sizeof narrow; ++text) {
    const auto point = static_cast<unsigned>(*text);
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | point >> 6), put(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
      put(0xe0 | point >> 12), put(0x80 | (point >> 6 & 0x3f)), put(0x80 | (point & 0x3f));
    } else {
      put(0xf0 | point >> 18), put(0x80 | (point >> 12 & 0x3f)), put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    }
  }
  narrow[length] = '\0';
  return NameOf(narrow);
}

// Strings that programs register are few and stay forever.
nvtxStringHandle_t HandleOf(Name name) noexcept {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static std::unordered_map<std::uint32_t, Name>* known = nullptr;
  pthread_mutex_lock(&lock);
  const Name* kept = nullptr;
  try {
    if (known == nullptr) known = new std::unordered_map<std::uint32_t, Name>;
    kept = &known->emplace(name.id, name).first->second;
  } catch (...) {
    kept = nullptr;
  }
  pthread_mutex_unlock(&lock);
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<Name*>(kept));
}

Name NameOf(const nvtxEventAttributes_t* attributes) noexcept {
  if (attributes == nullptr) return {};
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return NameOf(attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return NameOf(attributes->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* kept = reinterpret_cast<const Name*>(attributes->message.registered);
      return kept != nullptr ? *kept : Name{};
    }
    default:
      return {};
  }
}

struct OpenRange {
  const void* domain = nullptr;
  Name name;
  std::uint64_t begin_ns = 0;
};

void Record(const OpenRange& range) noexcept {
  api->user_range(range.name.id, range.name.is_step, range.begin_ns, api->now_ns());
}

// Ranges pushed on this thread. Ranges beyond its capacity are counted but not recorded.
struct Pushed {
  OpenRange ranges[128];
  int depth = 0, beyond = 0;
};
thread_local Pushed pushed;

int Push(const void* domain, Name name) noexcept {
  if (pushed.depth == 128) return pushed.depth + pushed.beyond++;
  pushed.ranges[pushed.depth] = {domain, name, api->now_ns()};
  return pushed.depth++;
}

int Pop(const void* domain) noexcept {
  if (pushed.beyond > 0) return pushed.depth + --pushed.beyond;
  int at = pushed.depth - 1;
  while (at >= 0 && pushed.ranges[at].domain != domain) --at;
  if (at < 0) return -1;
  Record(pushed.ranges[at]);
  for (int n = at; n + 1 < pushed.depth; ++n) pushed.ranges[n] = pushed.ranges[n + 1];
  return --pushed.depth;
}

// Ranges that may end on another thread.
struct Started {
  std::mutex lock;
  std::unordered_map<nvtxRangeId_t, OpenRange> ranges;
  nvtxRangeId_t last = 0;
};
Started& StartedRanges() {
  static Started* started = new Started;
  return *started;
}

nvtxRangeId_t Start(Name name) noexcept {
  try {
    Started& started = StartedRanges();
    const std::lock_guard guard(started.lock);
    started.ranges[++started.last] = {nullptr, name, api->now_ns()};
    return started.last;
  } catch (...) {
    return 0;
  }
}

void End(nvtxRangeId_t id) noexcept {
  try {
    OpenRange range;
    {
      Started& started = StartedRanges();
      const std::lock_guard guard(started.lock);
      const auto found = started.ranges.find(id);
      if (found == started.ranges.end()) return;
      range = found->second;
      started.ranges.erase(found);
    }
    Record(range);
  } catch (...) {
    return;
  }
}

// A domain's handle must not be null: that is the default domain.
nvtxDomainHandle_t NewDomain() noexcept {
  static std::atomic<std::uintptr_t> last{0};
  return reinterpret_cast<nvtxDomainHandle_t>(last.fetch_add(1) + 1);
}

template <class Function>
void Set(NvtxFunctionTable table, unsigned size, unsigned id, Function* function) noexcept {
  if (id < size && table[id] != nullptr) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void SetCore(NvtxFunctionTable table, unsigned size) noexcept {
  Set(
      table, size, NVTX_CBID_CORE_RangeStartEx, +[](const nvtxEventAttributes_t* it) { return Start(NameOf(it)); });
  Set(
      table, size, NVTX_CBID_CORE_RangeStartA, +[](const char* text) { return Start(NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE_RangeStartW, +[](const wchar_t* text) { return Start(NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE_RangeEnd, +[](nvtxRangeId_t id) { End(id); });
  Set(
      table, size, NVTX_CBID_CORE_RangePushEx,
      +[](const nvtxEventAttributes_t* it) { return Push(nullptr, NameOf(it)); });
  Set(
      table, size, NVTX_CBID_CORE_RangePushA, +[](const char* text) { return Push(nullptr, NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE_RangePushW, +[](const wchar_t* text) { return Push(nullptr, NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE_RangePop, +[] { return Pop(nullptr); });
}

void SetDomains(NvtxFunctionTable table, unsigned size) noexcept {
  using Domain = nvtxDomainHandle_t;
  Set(
      table, size, NVTX_CBID_CORE2_DomainRangeStartEx,
      +[](Domain, const nvtxEventAttributes_t* it) { return Start(NameOf(it)); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainRangeEnd, +[](Domain, nvtxRangeId_t id) { End(id); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainRangePushEx,
      +[](Domain domain, const nvtxEventAttributes_t* it) { return Push(domain, NameOf(it)); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainRangePop, +[](Domain domain) { return Pop(domain); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainRegisterStringA,
      +[](Domain, const char* text) { return HandleOf(NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainRegisterStringW,
      +[](Domain, const wchar_t* text) { return HandleOf(NameOf(text)); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainCreateA, +[](const char*) { return NewDomain(); });
  Set(
      table, size, NVTX_CBID_CORE2_DomainCreateW, +[](const wchar_t*) { return NewDomain(); });
}

bool TableOf(const NvtxExportTableCallbacks& exported, NvtxCallbackModule module, NvtxFunctionTable& table,
             unsigned& size) noexcept {
  return exported.GetModuleFunctionTable(module, &table, &size) != 0 && table != nullptr;
}

}  // namespace
}  // namespace loopscope

// Called by NVTX at the program's first NVTX call. Returns 1 when ranges are recorded from now on.
extern "C" LOOPSCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  using namespace loopscope;
  auto* offer = reinterpret_cast<decltype(&loopscope_probe_api)>(dlsym(RTLD_DEFAULT, "loopscope_probe_api"));
  api = offer != nullptr ? offer() : nullptr;
  const auto* exported = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  if (api == nullptr || api->version != kProbeApiVersion || exported == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!TableOf(*exported, NVTX_CB_MODULE_CORE, table, size)) return 0;
  SetCore(table, size);
  if (TableOf(*exported, NVTX_CB_MODULE_CORE2, table, size)) SetDomains(table, size);
  return 1;
}
