#include "probes/cupti/dump.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bit>
#include <new>

#include "probes/cupti/activity_layout.h"

namespace loopscope {
namespace {

static_assert(std::endian::native == std::endian::little);

// In one write, since other processes may append to the same file. An error makes the rest of the file useless, but
// does not disturb the program.
void Append(int file, const std::uint64_t* numbers, std::size_t count, const void* bytes, std::size_t length) noexcept {
  const iovec parts[] = {{const_cast<std::uint64_t*>(numbers), count * sizeof *numbers},
                         {const_cast<void*>(bytes), length}};
  [[maybe_unused]] const ssize_t written = writev(file, parts, 2);
}

}  // namespace

BufferDump::BufferDump(const Cupti& cupti, const char* path) noexcept : cupti_(cupti) {
  if (path != nullptr && *path != '\0') file_ = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

BufferDump::~BufferDump() {
  if (file_ >= 0) close(file_);
}

void BufferDump::Add(std::uint8_t* buffer, std::size_t valid) noexcept {
  if (file_ < 0 || valid == 0 || bytes_ + sizeof(std::uint64_t) + valid > kMostBytes) return;
  const std::uint64_t length = valid;
  Append(file_, &length, 1, buffer, valid);
  bytes_ += sizeof length + valid;
  try {
    KeepTexts(buffer, valid);
  } catch (const std::bad_alloc&) {  // fewer texts
  }
}

void BufferDump::KeepTexts(std::uint8_t* buffer, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cupti_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto left = valid - static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer);
    if (left < sizeof(CUpti_Activity)) return;
    const CUpti_ActivityKind kind = activity::As<CUpti_Activity>(*record).kind;
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL) {
      if (left >= sizeof(activity::Kernel)) Keep(activity::As<activity::Kernel>(*record).name);
    } else if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
      if (left >= sizeof(activity::Device)) Keep(activity::As<activity::Device>(*record).name);
    }
  }
}

void BufferDump::Keep(const char* text) {
  if (text != nullptr) texts_.insert({reinterpret_cast<std::uintptr_t>(text), text});
}

void BufferDump::Finish() noexcept {
  if (file_ < 0) return;
  const std::uint64_t none = 0;
  Append(file_, &none, 1, nullptr, 0);
  for (const auto& [address, characters] : texts_) {
    const std::uint64_t head[] = {address, characters.size()};
    Append(file_, head, 2, characters.data(), characters.size());
  }
  close(file_);
  file_ = -1;
}

}  // namespace loopscope
