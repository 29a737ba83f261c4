// Whether a sanitizer watches: tests that go through many bytes or draws take fewer then, as each costs some twenty
// times as much.
#pragma once

namespace loopscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

}  // namespace loopscope::test
