#include <algorithm>
#include <bit>

#include "profiler/importers/json/windows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loopscope {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kTailBytes = 64 * 1024;  // searched first for the last end

// One byte; true when it closed or opened a bracket.
bool Step(char byte, JsonScanState& state) {
  if (state.in_string) {
    if (state.escaped) {
      state.escaped = false;
    } else if (byte == '\\') {
      state.escaped = true;
    } else if (byte == '"') {
      state.in_string = false;
    }
    return false;
  }
  state.escaped = false;
  if (byte == '"') state.in_string = true;
  const int folded = byte | 0x20;  // '[' becomes '{' and ']' becomes '}'
  if (folded == '{') ++state.depth;
  if (folded == '}') --state.depth;
  return folded == '}';
}

void ScanBytes(std::string_view text, std::int64_t base, JsonScanState& state, JsonScan& scan) {
  for (; scan.consumed < text.size() && !scan.closed; ++scan.consumed) {
    if (!Step(text[scan.consumed], state) || state.depth > base) continue;
    if (state.depth == base) scan.last_end = scan.consumed + 1;
    scan.closed = state.depth < base;
  }
}

#if defined(__x86_64__)

struct Masks {
  std::uint64_t quotes, backslashes, opens, closes;
};

__attribute__((target("avx2,pclmul"))) inline Masks MasksOf(const char* block) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32));
  const __m256i fold = _mm256_set1_epi8(0x20);
  const __m256i folded_low = _mm256_or_si256(low, fold), folded_high = _mm256_or_si256(high, fold);
  const auto mask = [](__m256i a, __m256i b, char wanted) __attribute__((target("avx2,pclmul"))) {
    const __m256i one = _mm256_set1_epi8(wanted);
    const auto first = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, one)));
    const auto second = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, one)));
    return std::uint64_t{second} << 32 | first;
  };
  return {mask(low, high, '"'), mask(low, high, '\\'), mask(folded_low, folded_high, '{'),
          mask(folded_low, folded_high, '}')};
}

// The bytes escaped by a backslash before them; in JSON, backslashes occur only inside strings.
std::uint64_t EscapedBytes(std::uint64_t backslashes, bool& carried) {
  std::uint64_t escaped = carried ? 1 : 0;
  carried = false;
  backslashes &= ~escaped;
  while (backslashes) {
    const int at = std::countr_zero(backslashes);
    backslashes &= backslashes - 1;
    if (at == 63) {
      carried = true;
      break;
    }
    escaped |= std::uint64_t{1} << (at + 1);
    backslashes &= ~(std::uint64_t{1} << (at + 1));
  }
  return escaped;
}

// Blocks in which the depth is `watched` or less anywhere are scanned bracket by bracket.
__attribute__((target("avx2,pclmul"))) void ScanBlocks(std::string_view text, std::size_t end, std::int64_t base,
                                                       std::int64_t watched, JsonScanState& state, JsonScan& scan) {
  const __m128i ones = _mm_set1_epi8(-1);
  std::uint64_t in_string = state.in_string ? ~std::uint64_t{0} : 0;
  bool escaped = state.escaped;
  for (; scan.consumed + kBlockBytes <= end; scan.consumed += kBlockBytes) {
    const Masks masks = MasksOf(text.data() + scan.consumed);
    std::uint64_t quotes = masks.quotes;
    if (masks.backslashes || escaped) quotes &= ~EscapedBytes(masks.backslashes, escaped);
    const __m128i parity =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(quotes)), ones, 0);  // running xor of all bits
    const std::uint64_t inside = static_cast<std::uint64_t>(_mm_cvtsi128_si64(parity)) ^ in_string;
    const std::uint64_t opens = masks.opens & ~inside, closes = masks.closes & ~inside;
    const auto closing = static_cast<std::int64_t>(__builtin_popcountll(closes));
    if (closes && state.depth - closing <= watched) {
      std::int64_t depth = state.depth;
      for (std::uint64_t brackets = opens | closes; brackets; brackets &= brackets - 1) {
        const int at = std::countr_zero(brackets);
        if (opens >> at & 1) {
          ++depth;
          continue;
        }
        --depth;
        if (depth == base) scan.last_end = scan.consumed + static_cast<std::size_t>(at) + 1;
        if (depth >= base) continue;
        scan.consumed += static_cast<std::size_t>(at) + 1;
        state = {depth, false, false};
        scan.closed = true;
        return;
      }
    }
    state.depth += __builtin_popcountll(opens) - closing;
    in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
  }
  state.in_string = in_string != 0;
  state.escaped = escaped;
}

bool HasBlocks() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul");
  return has;
}

#else

void ScanBlocks(std::string_view, std::size_t, std::int64_t, std::int64_t, JsonScanState&, JsonScan&) {}
bool HasBlocks() {
  return false;
}

#endif

JsonScan Scan(std::string_view text, std::int64_t base, JsonScanState& state, std::size_t unwatched) {
  JsonScan scan;
  if (HasBlocks()) {
    ScanBlocks(text, unwatched, base, base - 1, state, scan);
    if (!scan.closed) ScanBlocks(text, text.size(), base, base, state, scan);
  }
  if (!scan.closed) ScanBytes(text, base, state, scan);
  return scan;
}

}  // namespace

JsonScan ScanElements(std::string_view text, std::int64_t base, JsonScanState& state) {
  const JsonScanState before = state;
  const std::size_t unwatched = text.size() > kTailBytes ? text.size() - kTailBytes : 0;
  JsonScan scan = Scan(text, base, state, unwatched);
  if (scan.last_end != JsonScan::kNowhere || unwatched == 0) return scan;
  state = before;
  return Scan(text, base, state, 0);
}

std::size_t ScanUntilDepth(std::string_view text, std::int64_t depth, JsonScanState& state) {
  std::size_t at = 0;
  while (at < text.size() && (state.in_string || state.depth > depth)) Step(text[at++], state);
  return at;
}

}  // namespace loopscope
