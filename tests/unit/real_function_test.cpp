#include "probes/preload/real_function.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace loopscope {
namespace {

TEST(RealFunction, TellsWhatALibraryCallsOfOthers) {
  void* const terminate = dlsym(RTLD_DEFAULT, "_ZSt9terminatev");  // of libstdc++, whose operator new calls malloc
  ASSERT_NE(terminate, nullptr);
  EXPECT_TRUE(LibraryCalls(terminate, "malloc"));
  EXPECT_FALSE(LibraryCalls(terminate, "mallo"));
  EXPECT_FALSE(LibraryCalls(terminate, "gnu_get_libc_version"));
}

TEST(RealFunction, WhatALibraryHasItselfIsNoOthers) {
  void* const version = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");  // of libc, which calls its own malloc by name
  ASSERT_NE(version, nullptr);
  EXPECT_FALSE(LibraryCalls(version, "malloc"));
}

TEST(RealFunction, WhatIsNoFunctionCallsNothing) {
  int on_the_stack = 0;
  EXPECT_FALSE(LibraryCalls(&on_the_stack, "malloc"));
  EXPECT_FALSE(LibraryCalls(nullptr, "malloc"));
}

}  // namespace
}  // namespace loopscope
