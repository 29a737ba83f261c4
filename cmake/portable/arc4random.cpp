// The C++ library that is linked in takes the numbers of std::random_device from arc4random, which glibc has from 2.36
// on. This is the same by a call that older ones have too.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}
