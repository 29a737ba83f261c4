#include "profiler/importers/kineto/sniff.h"

#include <algorithm>
#include <array>
#include <string>

#include "profiler/importers/json/cursor.h"

namespace loopscope {
namespace {

constexpr std::array<std::string_view, 5> kOfTraces{"traceEvents", "deviceProperties", "distributedInfo",
                                                    "baseTimeNanoseconds", "displayTimeUnit"};
constexpr std::array<std::string_view, 1> kOfEvents{"ph"};

// Looks at the members of an object whose opening bracket is taken, up to one of the keys.
template <std::size_t kKeys>
bool MayHold(JsonCursor& cursor, const std::array<std::string_view, kKeys>& keys) {
  do {
    cursor.SkipBlanks();
    if (cursor.done()) return true;
    if (cursor.Next() != '"') return false;
    std::string_view key;
    if (!cursor.String(key) || std::ranges::find(keys, key) != keys.end()) return true;
    if (!cursor.Take(':')) return cursor.done();
    const char first = cursor.Next();
    if (!cursor.Skip()) return cursor.done() || first == '"' || first == '{' || first == '[';
  } while (cursor.Take(','));
  return cursor.done();
}

}  // namespace

bool MayBeKineto(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  std::string padded(head);
  padded.append(kJsonPadding, '\0');
  JsonCursor cursor(std::string_view(padded).substr(0, head.size()));
  if (cursor.Take('{')) return MayHold(cursor, kOfTraces);
  if (!cursor.Take('[')) return false;
  cursor.SkipBlanks();
  return cursor.done() || (cursor.Take('{') && MayHold(cursor, kOfEvents));
}

}  // namespace loopscope
