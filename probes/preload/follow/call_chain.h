// The callers of a sampled instruction, read from a copy of the top of its stack. Without unwind tables: a word of the
// stack is a return address when the call before it goes to the function that runs below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace loopscope {

// Code of the program itself, as it lies in memory.
struct ProgramCode {
  std::uint64_t begin = 0, end = 0;
  bool Has(std::uint64_t address) const noexcept { return address >= begin && address < end; }
};

struct CallChain {
  static constexpr std::size_t kMost = 16;
  std::uint64_t addresses[kMost] = {};  // return addresses, innermost first
  std::size_t count = 0;
};

namespace call_chain {

constexpr std::uint64_t kLongestFunction = 64 * 1024;

enum class Call { kNone, kDirect, kIndirect };

struct Found {
  Call call = Call::kNone;
  std::uint64_t target = 0;  // of a direct one
};

#if defined(__aarch64__)
inline std::uint32_t InstructionAt(std::uint64_t address) noexcept {
  std::uint32_t instruction = 0;
  std::memcpy(&instruction, reinterpret_cast<const void*>(address), sizeof instruction);
  return instruction;
}
#endif

// The call instruction that ends at `address`.
inline Found CallBefore(std::uint64_t address, const ProgramCode& code) noexcept {
#if defined(__x86_64__)
  if (!code.Has(address - 7) || !code.Has(address)) return {};
  const auto* at = reinterpret_cast<const unsigned char*>(address);
  if (at[-5] == 0xe8) {  // call rel32
    std::int32_t offset = 0;
    std::memcpy(&offset, at - 4, sizeof offset);
    return {Call::kDirect, address + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset))};
  }
  const auto is_call = [](unsigned char opcode, unsigned char operand, unsigned char mode) {
    return opcode == 0xff && (operand & 0x38) == 0x10 && (operand & 0xc0) == mode;  // call r/m64
  };
  if (is_call(at[-2], at[-1], 0xc0) || is_call(at[-2], at[-1], 0x00) || is_call(at[-3], at[-2], 0x40) ||
      is_call(at[-6], at[-5], 0x80) || is_call(at[-6], at[-5], 0x00)) {
    return {Call::kIndirect, 0};
  }
#elif defined(__aarch64__)
  if (address % 4 != 0 || !code.Has(address - 4) || !code.Has(address)) return {};
  const std::uint32_t before = InstructionAt(address - 4);
  if ((before & 0xfc000000) == 0x94000000) {  // bl: a signed distance of 26 bits, in instructions
    const std::int64_t distance = static_cast<std::int32_t>(before << 6) >> 4;
    return {Call::kDirect, address - 4 + static_cast<std::uint64_t>(distance)};
  }
  if ((before & 0xfffffc1f) == 0xd63f0000) return {Call::kIndirect, 0};  // blr
#else
  (void)address, (void)code;
#endif
  return {};
}

// The linker's jump into another library: on x86-64 `jmp *address(%rip)`, behind an endbr64 where there is one; on
// AArch64 adrp x16 and ldr x17 behind a bti, with a br x17 after them.
inline bool IsStub(std::uint64_t target, const ProgramCode& code) noexcept {
  if (!code.Has(target) || !code.Has(target + 12)) return false;
#if defined(__aarch64__)
  if (InstructionAt(target) == 0xd503245f) target += 4;
  return (InstructionAt(target) & 0x9f00001f) == 0x90000010 && (InstructionAt(target + 4) & 0xffc003ff) == 0xf9400211;
#endif
  const auto* at = reinterpret_cast<const unsigned char*>(target);
  constexpr unsigned char kLanding[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(at, kLanding, sizeof kLanding) == 0) at += sizeof kLanding;
  if (*at == 0xf2) ++at;
  return at[0] == 0xff && at[1] == 0x25;
}

// Whether a call leads to the function in which `running` lies: for one in another library, any call that leaves the
// program's own code, or goes through a pointer.
inline bool LeadsTo(const Found& found, std::uint64_t running, const ProgramCode& code) noexcept {
  if (!code.Has(running)) {
    return found.call == Call::kIndirect || (found.call == Call::kDirect && IsStub(found.target, code));
  }
  if (found.call != Call::kDirect) return false;
  return found.target <= running && running - found.target < kLongestFunction;
}

}  // namespace call_chain

// `stack`: words from the stack pointer on. Empty where no address of the program's own code is found.
inline CallChain CallChainOf(std::uint64_t instruction, std::span<const std::uint64_t> stack,
                             const ProgramCode& code) noexcept {
  CallChain chain;
  // Addresses in a stack are those after a call.
  if (code.Has(instruction)) chain.addresses[chain.count++] = instruction + 1;
  std::uint64_t running = instruction;
  for (const std::uint64_t word : stack) {
    if (chain.count == CallChain::kMost) break;
    if (!code.Has(word)) continue;
    const call_chain::Found call = call_chain::CallBefore(word, code);
    if (!call_chain::LeadsTo(call, running, code)) continue;
    chain.addresses[chain.count++] = running = word;
  }
  return chain;
}

}  // namespace loopscope
