#include <link.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/preload/follow/call_chain.h"
#include "probes/preload/follow/following.h"

namespace loopscope::samples {
namespace {

// Sampling period in processor time: so many samples per step, within limits.
constexpr std::uint64_t kSamplesOfStep = 50, kLeastPeriodNs = 50'000, kMostPeriodNs = 5'000'000;
constexpr std::uint32_t kStackBytes = 2048;       // copied with each sample
constexpr std::size_t kBufferBytes = 256 * 1024;  // about 120 samples; pages are a power of two, of 4 to 64 KB

// One sample, as perf_event_attr::sample_type orders it; perf_event_open(2).
struct Sample {
  perf_event_header head;
  std::uint64_t instruction, time_ns;
  std::uint64_t stack_bytes;  // then the copy, then how much of it is valid
};

struct Sampler {
  int file = -1;
  perf_event_mmap_page* control = nullptr;
  unsigned char* buffer = nullptr;
  std::size_t bytes = 0;
  pid_t thread = 0;
  std::uint64_t period_ns = 0;
  ProgramCode code;
} sampler;

ProgramCode CodeOfProgram() noexcept {
  ProgramCode code;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {  // the program comes first
        for (int n = 0; n < info->dlpi_phnum; ++n) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[n];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          *static_cast<ProgramCode*>(into) = {begin, begin + segment.p_memsz};
        }
        return 1;
      },
      &code);
  return code;
}

void Close() noexcept {
  if (sampler.control != nullptr) munmap(sampler.control, sampler.bytes + static_cast<std::size_t>(getpagesize()));
  if (sampler.file >= 0) close(sampler.file);
  sampler = {};
}

bool Open() noexcept {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = kMostPeriodNs;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER;
  attributes.sample_stack_user = kStackBytes;
  attributes.disabled = attributes.exclude_kernel = attributes.exclude_hv = attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;  // the capture's clock
  sampler.file = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (sampler.file < 0) return false;
  const auto page = static_cast<std::size_t>(getpagesize());
  sampler.bytes = kBufferBytes;
  void* const mapped = mmap(nullptr, sampler.bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, sampler.file, 0);
  if (mapped == MAP_FAILED) return false;
  sampler.control = static_cast<perf_event_mmap_page*>(mapped);
  sampler.buffer = static_cast<unsigned char*>(mapped) + page;
  sampler.thread = gettid();
  sampler.code = CodeOfProgram();
  return sampler.code.end != 0;
}

// Copies data that may wrap around the buffer's end.
void Read(std::uint64_t position, void* to, std::size_t bytes) noexcept {
  const std::size_t at = position % sampler.bytes, first = std::min(bytes, sampler.bytes - at);
  std::memcpy(to, sampler.buffer + at, first);
  std::memcpy(static_cast<unsigned char*>(to) + first, sampler.buffer, bytes - first);
}

// Slices do not overlap: a sample represents the period before it. Library functions are named when the capture is
// read, since that would take about 50 us here.
void WriteSample(const Sample& sample, const std::uint64_t* stack, std::size_t words, std::uint64_t& last_ns) noexcept {
  const CallChain chain = CallChainOf(sample.instruction, {stack, words}, sampler.code);
  std::uint64_t addresses[CallChain::kMost + 1] = {sample.instruction + 1};  // as a return address
  const std::uint64_t begin_ns = std::max(last_ns, sample.time_ns - sampler.period_ns);
  last_ns = std::max(last_ns, sample.time_ns);
  if (chain.count == 0 || begin_ns >= sample.time_ns) return;
  const bool own = sampler.code.Has(sample.instruction);
  const std::size_t libraries = own ? 0 : 1;
  std::copy_n(chain.addresses, chain.count, addresses + libraries);
  capture::WriteRange(wire::RangeCategory::kLine, 0, begin_ns, sample.time_ns,
                      (own ? wire::kLineOwnWhole : 0) << wire::kLineOwnShift,
                      capture::StackId(addresses, chain.count + libraries));
}

std::uint64_t WriteSamples() noexcept {
  static std::uint64_t words[kStackBytes / 8];  // one thread is sampled
  static std::uint64_t last_ns = 0;
  const std::uint64_t head = std::atomic_ref<__u64>(sampler.control->data_head).load(std::memory_order_acquire);
  std::uint64_t tail = sampler.control->data_tail, count = 0;
  while (tail < head) {
    Sample sample{};
    Read(tail, &sample.head, sizeof sample.head);
    if (sample.head.size == 0) break;
    if (sample.head.type == PERF_RECORD_SAMPLE && sample.head.size >= sizeof sample) {
      Read(tail, &sample, sizeof sample);
      const auto copied = static_cast<std::size_t>(std::min<std::uint64_t>(sample.stack_bytes, kStackBytes));
      std::uint64_t valid = 0;
      Read(tail + sizeof sample, words, copied);
      if (copied > 0) Read(tail + sizeof sample + copied, &valid, sizeof valid);
      WriteSample(sample, words, std::min<std::size_t>(valid, copied) / 8, last_ns);
      ++count;
    }
    tail += sample.head.size;
  }
  std::atomic_ref<__u64>(sampler.control->data_tail).store(tail, std::memory_order_release);
  return count;
}

}  // namespace

void Prepare() noexcept {
  if (Start(0)) Stop();
}

bool Start(std::uint64_t step_ns) noexcept {
  static bool possible = true;
  if (possible && (sampler.file < 0 || sampler.thread != gettid())) {
    Close();
    possible = Open();
    if (!possible) Close();
  }
  if (!possible) return false;
  sampler.period_ns = std::clamp(step_ns / kSamplesOfStep, kLeastPeriodNs, kMostPeriodNs);
  return ioctl(sampler.file, PERF_EVENT_IOC_PERIOD, &sampler.period_ns) == 0 &&
         ioctl(sampler.file, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

std::uint64_t Stop() noexcept {
  if (sampler.file < 0) return 0;
  ioctl(sampler.file, PERF_EVENT_IOC_DISABLE, 0);
  return WriteSamples();
}

}  // namespace loopscope::samples
