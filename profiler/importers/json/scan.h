// Where a JSON text stands between its brackets, kept over pieces of any size: what cuts a stream into whole elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loopscope {

struct JsonScanState {
  std::int64_t depth = 0;  // of open brackets
  bool in_string = false;
  bool escaped = false;  // the byte before was a backslash that takes the next one
};

struct JsonScan {
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t consumed = 0;         // bytes gone through: all, or up to and with the bracket that closed `base`
  std::size_t last_end = kNowhere;  // just behind the last bracket that brought the depth back to `base`
  bool closed = false;              // the depth fell below `base`
};

// Goes on from `state` over `text`. Brackets of both kinds count alike: whether they match is the parser's to say.
JsonScan ScanElements(std::string_view text, std::int64_t base, JsonScanState& state);

// Up to the first place outside of strings where the depth is at most `depth`; the size of `text` when there is none.
std::size_t ScanUntilDepth(std::string_view text, std::int64_t depth, JsonScanState& state);

}  // namespace loopscope
