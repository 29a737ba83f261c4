// Tracks the bracket depth of a JSON text across pieces of any size, to cut a stream into whole elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loopscope {

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

}  // namespace loopscope
