#include "profiler/importers/json/windows.h"

#include <algorithm>
#include <cstring>

namespace loopscope {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kMaxMembers = 4096;

bool IsBlank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

bool IsFiller(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return IsBlank(byte) || byte == ','; });
}

}  // namespace

JsonWindows::JsonWindows(std::unique_ptr<JsonSource> source, std::string array)
    : source_(std::move(source)), array_(std::move(array)) {}

Result<bool> JsonWindows::Fill() {
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  const std::size_t had = rest_.size();
  rest_.resize(had + kPieceBytes);
  const Result<std::size_t> read_bytes = source_->Read(rest_.data() + had, kPieceBytes);
  rest_.resize(had + (read_bytes ? *read_bytes : 0));
  if (!read_bytes) return read_bytes.error();
  return *read_bytes > 0;
}

Result<int> JsonWindows::Peek() {
  for (;;) {
    while (at_ < rest_.size() && IsBlank(rest_[at_])) ++at_;
    if (at_ < rest_.size()) return static_cast<int>(static_cast<unsigned char>(rest_[at_]));
    const Result<bool> more = Fill();
    if (!more) return more.error();
    if (!*more) return -1;
  }
}

Result<std::string> JsonWindows::Raw(std::size_t limit) {
  const Result<int> first = Peek();
  if (!first) return first.error();
  const bool string = *first == '"', nested = *first == '{' || *first == '[';
  JsonScanState state;
  std::string raw;
  bool begun = false, whole = true;
  for (;;) {
    const std::string_view piece(rest_.data() + at_, rest_.size() - at_);
    std::size_t end = 0;
    if (string || nested) {
      if (!begun && !piece.empty()) {
        state = {nested ? 1 : 0, string, false};
        end = 1;
        begun = true;
      }
      end += ScanUntilDepth(piece.substr(end), 0, state);
    } else {
      while (end < piece.size() && piece[end] != ',' && piece[end] != '}' && piece[end] != ']' && piece[end] != ':') {
        ++end;
      }
    }
    whole &= raw.size() + end <= limit;
    if (whole) {
      raw.append(piece.substr(0, end));
    } else {
      raw.clear();
    }
    at_ += end;
    const bool done = string || nested ? begun && !state.in_string && state.depth == 0 : end < piece.size();
    if (done) return raw;
    const Result<bool> more = Fill();
    if (!more) return more.error();
    if (!*more) {
      Tear(raw.size());
      return std::string();
    }
  }
}

Result<void> JsonWindows::Start() {
  Result<int> first = Peek();
  if (first && *first == 0xef && rest_.size() - at_ >= 3) {  // a byte order mark
    at_ += 3;
    first = Peek();
  }
  if (!first) return first.error();
  if (*first < 0) return Error{"is empty", "", ""};
  if (*first != '{' && *first != '[') return Error{"holds no JSON object", "", ""};
  top_is_array_ = *first == '[';
  array_seen_ = top_is_array_;
  place_ = top_is_array_ ? Place::kArray : Place::kMembers;
  ++at_;
  state_ = {1, false, false};
  return {};
}

void JsonWindows::Tear(std::uint64_t bytes) {
  torn_bytes_ += bytes;
  place_ = Place::kEnd;
}

// One key with its value, or the object's end.
Result<void> JsonWindows::Member() {
  Result<int> next = Peek();
  while (next && *next == ',') {
    ++at_;
    next = Peek();
  }
  if (!next) return next.error();
  if (*next == '}') {
    complete_ = true;
    place_ = Place::kEnd;
    return {};
  }
  if (*next != '"') {
    Tear(rest_.size() - at_);
    return {};
  }
  const Result<std::string> key = Raw(kMaxJsonMemberBytes);
  next = Peek();
  if (!key) return key.error();
  if (!next) return next.error();
  if (place_ == Place::kEnd) return {};
  if (*next != ':') {
    Tear(rest_.size() - at_);
    return {};
  }
  ++at_;
  next = Peek();
  if (!next) return next.error();
  const std::string name = key->size() >= 2 ? key->substr(1, key->size() - 2) : "";
  if (name == array_ && *next == '[') {
    ++at_;
    place_ = Place::kArray;
    array_seen_ = true;
    state_ = {1, false, false};
    scanned_ = 0;
    return {};
  }
  Result<std::string> value = Raw(kMaxJsonMemberBytes);
  if (!value) return value.error();
  if (!value->empty() && members_.size() < kMaxMembers) members_.emplace_back(name, std::move(*value));
  return {};
}

Result<bool> JsonWindows::Next(JsonWindow& window) {
  while (place_ != Place::kEnd) {
    if (place_ == Place::kArray) {
      const Result<bool> cut = Cut(window);
      if (!cut || *cut) return cut;
      continue;
    }
    const Result<void> done = place_ == Place::kStart ? Start() : Member();
    if (!done) return done.error();
  }
  return false;
}

// Fills a window with leftover bytes and more from the source, and returns all whole elements in it. False when there
// were none; the scan state then decides how to go on.
Result<bool> JsonWindows::Cut(JsonWindow& window) {
  std::vector<char>& storage = window.storage;
  const std::size_t had = rest_.size() - at_;
  std::size_t size = std::max(kJsonWindowBytes, had);
  if (storage.size() < size + kJsonPadding) storage.resize(size + kJsonPadding);
  std::memcpy(storage.data(), rest_.data() + at_, had);
  std::size_t filled = had, scanned = scanned_;
  std::size_t last_end = JsonScan::kNowhere;
  bool closed = false, ended = false;
  for (;;) {
    while (filled < size && !ended) {
      const Result<std::size_t> read_bytes = source_->Read(storage.data() + filled, size - filled);
      if (!read_bytes) return read_bytes.error();
      ended = *read_bytes == 0;
      filled += *read_bytes;
    }
    const JsonScan scan = ScanElements({storage.data() + scanned, filled - scanned}, 1, state_);
    if (scan.last_end != JsonScan::kNowhere) last_end = scanned + scan.last_end;
    scanned += scan.consumed;
    closed = scan.closed;
    if (last_end != JsonScan::kNowhere || closed || ended || size >= kMaxJsonElementBytes) break;
    if (!state_.in_string && state_.depth == 1) break;  // nothing but blanks and numbers
    size = std::min(size * 2, kMaxJsonElementBytes);
    storage.resize(size + kJsonPadding);
  }
  const std::size_t cut = last_end == JsonScan::kNowhere ? 0 : last_end;
  const std::size_t next = closed ? scanned : cut;
  rest_.assign(storage.data() + next, storage.data() + filled);
  at_ = 0;
  scanned_ = closed ? 0 : scanned - next;
  if (closed) {
    place_ = top_is_array_ ? Place::kEnd : Place::kMembers;
    complete_ |= top_is_array_;
  } else if (ended) {
    Tear(IsFiller({rest_.data(), rest_.size()}) ? 0 : rest_.size());
  } else if (cut == 0) {
    const Result<void> dropped = DropElement(rest_.size());
    if (!dropped) return dropped.error();
  }
  if (cut == 0) return false;
  window.text = {storage.data(), cut};
  window.index = next_index_++;
  std::memset(storage.data() + filled, 0, kJsonPadding);
  return true;
}

// Drops scanned bytes that belong to no window: an element that is too large, or text between elements.
Result<void> JsonWindows::DropElement(std::size_t bytes) {
  at_ = bytes;
  scanned_ = 0;
  oversized_ += state_.depth > 1 || state_.in_string;
  while (state_.depth > 1 || state_.in_string) {
    const Result<bool> more = Fill();
    if (!more) return more.error();
    if (!*more) {
      Tear(bytes);
      return {};
    }
    at_ = ScanUntilDepth({rest_.data(), rest_.size()}, 1, state_);
  }
  return {};
}

}  // namespace loopscope
