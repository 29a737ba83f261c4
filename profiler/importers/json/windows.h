// Cuts the big array of a JSON text, wherever it is in the top-level object, into windows of whole elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/importers/json/source.h"

namespace loopscope {

// Tracks the bracket depth of a JSON text across pieces of any size, to cut a stream into whole elements.
struct JsonScanState {
  std::int64_t depth = 0;  // of open brackets
  bool in_string = false;
  bool escaped = false;  // the byte before was a backslash that escapes the next one
};

struct JsonScan {
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t consumed = 0;         // bytes scanned: all, or up to and with the bracket that closed `base`
  std::size_t last_end = kNowhere;  // just after the last bracket that brought the depth back to `base`
  bool closed = false;              // the depth fell below `base`
};

// Continues from `state` over `text`. Brackets of both kinds count alike: checking that they match is the parser's job.
JsonScan ScanElements(std::string_view text, std::int64_t base, JsonScanState& state);

// Up to the first place outside of strings where the depth is at most `depth`; the size of `text` when there is none.
std::size_t ScanUntilDepth(std::string_view text, std::int64_t depth, JsonScanState& state);

inline constexpr std::size_t kJsonPadding = 64;                 // readable zeros after every window
inline constexpr std::size_t kJsonWindowBytes = 1 << 20;        // grown for a single element up to
inline constexpr std::size_t kMaxJsonElementBytes = 16u << 20;  // this; a larger one is left out
inline constexpr std::size_t kMaxJsonMemberBytes = 4u << 20;    // of a top-level member; a larger one is left out

struct JsonWindow {
  std::uint32_t index = 0;
  std::string_view text;  // elements with commas between, before and after; never part of one
  std::vector<char> storage;
};

class JsonWindows {
 public:
  // `array` is the key of the elements ("traceEvents"); a text that is one array at the top is read as its value.
  JsonWindows(std::unique_ptr<JsonSource> source, std::string array);

  // False at the end. Errors: those of the source, and text that is not a JSON object or array. Not thread-safe.
  Result<bool> Next(JsonWindow& window);

  // The other members of the top-level object, as raw JSON text; complete after the last window.
  const std::vector<std::pair<std::string, std::string>>& members() const { return members_; }
  bool array_seen() const { return array_seen_; }
  bool any_element() const { return next_index_ > 0 || oversized_ > 0 || torn_bytes_ > 0; }
  bool complete() const { return complete_; }               // the text ended where its brackets close
  std::uint64_t torn_bytes() const { return torn_bytes_; }  // after the last whole element of text that did not
  std::uint64_t oversized() const { return oversized_; }    // elements left out for their size
  const JsonSource& source() const { return *source_; }

 private:
  enum class Place { kStart, kMembers, kArray, kEnd };

  Result<bool> Fill();                         // appends more of the source to rest_; false at its end
  Result<int> Peek();                          // the next non-blank byte, not taken; -1 at the end
  Result<std::string> Raw(std::size_t limit);  // takes a value; "" when it is longer than `limit`
  Result<void> Start();
  Result<void> Member();
  Result<bool> Cut(JsonWindow& window);
  Result<void> DropElement(std::size_t bytes);
  void Tear(std::uint64_t bytes);

  std::unique_ptr<JsonSource> source_;
  std::string array_;
  Place place_ = Place::kStart;
  bool top_is_array_ = false, array_seen_ = false, complete_ = false;
  std::vector<char> rest_;  // read and not yet taken, from at_ on
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;  // bytes of the rest that state_ has scanned
  JsonScanState state_;      // inside the array, which is at depth 1
  std::uint32_t next_index_ = 0;
  std::uint64_t torn_bytes_ = 0, oversized_ = 0;
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace loopscope
