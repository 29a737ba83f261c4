// CRC-32C (Castagnoli), which a capture's closed chunks carry: written by the probes, checked by the importer.
// Header-only. Uses the SSE4.2 instruction where the machine has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace loopscope::capture {

namespace detail {

// Reflected polynomial of RFC 3720, appendix B.4.
inline constexpr std::uint32_t kCastagnoli = 0x82f63b78u;

constexpr std::array<std::uint32_t, 256> Crc32cTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? kCastagnoli : 0);
    table[byte] = value;
  }
  return table;
}
inline constexpr std::array<std::uint32_t, 256> kCrc32cTable = Crc32cTable();

inline std::uint32_t Crc32cPortable(std::uint32_t state, const unsigned char* data, std::size_t bytes) noexcept {
  for (; bytes > 0; --bytes) state = (state >> 8) ^ kCrc32cTable[(state ^ *data++) & 0xff];
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) inline std::uint32_t Crc32cSse(std::uint32_t state, const unsigned char* data,
                                                                 std::size_t bytes) noexcept {
  unsigned long long wide = state;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    unsigned long long word;
    std::memcpy(&word, data, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return Crc32cPortable(static_cast<std::uint32_t>(wide), data, bytes);
}
#endif

}  // namespace detail

// CRC-32C of `bytes` bytes at `data`; 0 for none.
inline std::uint32_t Crc32c(const void* data, std::size_t bytes) noexcept {
  const auto* from = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool has_sse = __builtin_cpu_supports("sse4.2");
  if (has_sse) return ~detail::Crc32cSse(~0u, from, bytes);
#endif
  return ~detail::Crc32cPortable(~0u, from, bytes);
}

}  // namespace loopscope::capture
