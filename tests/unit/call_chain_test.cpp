#include "probes/preload/follow/call_chain.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace loopscope {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)

// Code in memory: two functions that call one another, and a stub into a library.
class Code {
 public:
  ProgramCode range() const { return {At(0), At(bytes_.size())}; }
  std::uint64_t At(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(bytes_.data()) + offset; }
#if defined(__x86_64__)
  // Writes "call target" so that it ends at `end`; returns the return address.
  std::uint64_t CallAt(std::size_t end, std::size_t target) {
    bytes_[end - 5] = 0xe8;
    const auto offset = static_cast<std::int32_t>(target) - static_cast<std::int32_t>(end);
    std::memcpy(&bytes_[end - 4], &offset, sizeof offset);
    return At(end);
  }
  std::uint64_t PointerCallAt(std::size_t end) {
    bytes_[end - 2] = 0xff;
    bytes_[end - 1] = 0xd0;  // call *%rax
    return At(end);
  }
  void StubAt(std::size_t at) {
    constexpr std::array<unsigned char, 6> kStub{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25};
    std::copy(kStub.begin(), kStub.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }
#else
  std::uint64_t CallAt(std::size_t end, std::size_t target) {
    const auto distance = (static_cast<std::int32_t>(target) - static_cast<std::int32_t>(end - 4)) / 4;
    return Write(end - 4, {0x94000000 | (static_cast<std::uint32_t>(distance) & 0x03ffffff)});  // bl
  }
  std::uint64_t PointerCallAt(std::size_t end) { return Write(end - 4, {0xd63f0000}); }  // blr x0
  void StubAt(std::size_t at) { Write(at, {0xd503245f, 0x90000010, 0xf9400211, 0xd61f0220}); }
#endif

 private:
#if !defined(__x86_64__)
  // The address behind.
  std::uint64_t Write(std::size_t at, const std::vector<std::uint32_t>& instructions) {
    std::memcpy(&bytes_[at], instructions.data(), instructions.size() * 4);
    return At(at + instructions.size() * 4);
  }
#endif
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(4096, 0x90);
};

std::vector<std::uint64_t> Found(std::uint64_t instruction, const std::vector<std::uint64_t>& stack, const Code& code) {
  const CallChain chain = CallChainOf(instruction, stack, code.range());
  return {chain.addresses, chain.addresses + chain.count};
}

TEST(CallChain, FollowsCallsOutwards) {
  Code code;
  const std::uint64_t in_middle = code.CallAt(1100, 2000);  // of the function at 1000, to the one at 2000
  const std::uint64_t in_outer = code.CallAt(600, 1000);
  EXPECT_EQ(Found(code.At(2050), {7, in_middle, 0, in_outer}, code),
            (std::vector<std::uint64_t>{code.At(2051), in_middle, in_outer}));
}

TEST(CallChain, WordsThatAreNoReturnAddressesAreLeftOut) {
  Code code;
  const std::uint64_t other = code.CallAt(1100, 3000);  // left over from a call to another function
  const std::uint64_t caller = code.CallAt(700, 2000);
  EXPECT_EQ(Found(code.At(2050), {code.At(900), other, caller}, code),
            (std::vector<std::uint64_t>{code.At(2051), caller}));
}

TEST(CallChain, FromALibraryThroughAStub) {
  Code code;
  code.StubAt(100);
  const std::uint64_t stale = code.CallAt(1300, 2000), caller = code.CallAt(1100, 100);
  const std::uint64_t in_outer = code.CallAt(600, 1000);
  EXPECT_EQ(Found(0x10, {stale, caller, in_outer}, code), (std::vector<std::uint64_t>{caller, in_outer}));
}

TEST(CallChain, FromALibraryThroughAPointer) {
  Code code;
  const std::uint64_t caller = code.PointerCallAt(1100);
  EXPECT_EQ(Found(0x10, {caller}, code), (std::vector<std::uint64_t>{caller}));
}

TEST(CallChain, NothingOfTheProgramIsNoChain) {
  Code code;
  EXPECT_TRUE(Found(0x10, {1, 2, 3}, code).empty());
  EXPECT_TRUE(Found(0x10, {}, code).empty());
}

TEST(CallChain, IsBounded) {
  Code code;
  const std::uint64_t self = code.CallAt(2040, 2000);  // a function that calls itself
  EXPECT_EQ(Found(code.At(2050), std::vector<std::uint64_t>(100, self), code).size(), CallChain::kMost);
}

#endif

}  // namespace
}  // namespace loopscope
