// The fields of an element of "traceEvents": strings stay raw, numbers become integers.
#include <charconv>
#include <cstring>

#include "profiler/importers/kineto/events.h"

namespace loopscope {
namespace {

// "4242" and "stream 7" are the numbers 4242 and 7; of any other text a number that no process or thread has.
std::int64_t IdOfText(std::string_view text) {
  constexpr std::string_view kStream = "stream ";
  std::string_view digits = text;
  if (digits.starts_with(kStream)) digits.remove_prefix(kStream.size());
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto [at, error] = std::from_chars(digits.data(), end, number); at == end && error == std::errc())
    return number;
  return static_cast<std::int64_t>(StringHash(text) & 0x7fffffffu) | kNamedId;
}

// A number or a text; -1 for anything else (null).
bool ReadId(JsonCursor& cursor, std::int64_t& id, std::string_view& text) {
  const char next = cursor.Next();
  if ((next >= '0' && next <= '9') || next == '-') return cursor.Whole(id);
  id = -1;
  if (next != '"') return cursor.Skip();
  if (!cursor.String(text)) return false;
  id = IdOfText(text);
  return true;
}

bool ReadNumber(JsonCursor& cursor, std::int64_t& value) {
  const char next = cursor.Next();
  return (next >= '0' && next <= '9') || next == '-' ? cursor.Whole(value) : cursor.Skip();
}

bool ReadText(JsonCursor& cursor, std::string_view& text) {
  return cursor.Next() == '"' ? cursor.String(text) : cursor.Skip();
}

// As ==, but without a call: the compiler knows the length of a name.
template <std::size_t n>
bool Is(std::string_view key, const char (&name)[n]) {
  return key.size() == n - 1 && std::memcmp(key.data(), name, n - 1) == 0;
}

}  // namespace

bool KinetoEvents::ReadElement(JsonCursor& cursor, Element& element) {
  if (!cursor.Take('{')) return false;
  if (cursor.Take('}')) return true;
  do {
    std::string_view key;
    if (!cursor.String(key) || !cursor.Take(':') || !ReadField(cursor, key, element)) return false;
  } while (cursor.Take(','));
  if (!cursor.Take('}')) return false;
  if (element.unread_args.empty()) return true;
  JsonCursor args(element.unread_args);
  return ReadArgs(args, element.args);
}

bool KinetoEvents::ReadField(JsonCursor& cursor, std::string_view key, Element& element) {
  std::string_view text;
  switch (key.size()) {
    case 2:
      if (Is(key, "ph")) {
        if (!ReadText(cursor, text)) return false;
        element.phase = text.size() == 1 ? text[0] : '\0';
        return true;
      }
      return Is(key, "ts") ? ReadTime(cursor, element.has_start, element.fits, element.start_ns) : cursor.Skip();
    case 3:
      if (Is(key, "cat")) {
        if (!ReadText(cursor, text)) return false;
        element.category = CategoryOfKineto(text);
        return element.has_category = true;
      }
      if (Is(key, "pid")) return ReadId(cursor, element.pid, element.pid_text);
      if (Is(key, "tid")) return ReadId(cursor, element.tid, text);
      return Is(key, "dur") ? ReadTime(cursor, element.has_duration, element.fits, element.duration_ns) : cursor.Skip();
    case 4:
      if (Is(key, "name")) return ReadText(cursor, element.name);
      if (!Is(key, "args") || cursor.Next() != '{') return cursor.Skip();
      if (element.phase == 'M') return ReadArgs(cursor, element.args);
      if (element.phase == 0 || !element.has_category) return cursor.Raw(element.unread_args);
      if (element.category == KinetoCategory::kOther) return cursor.Skip();
      return ReadArgs(cursor, element.args);
    default:
      return cursor.Skip();
  }
}

// Microseconds, whole or with decimals.
bool KinetoEvents::ReadTime(JsonCursor& cursor, bool& has, bool& fits, std::int64_t& ns) {
  const char* const begin = cursor.at();
  has = true;
  if (cursor.Scaled(3, ns)) return true;
  fits = false;
  cursor.Return(begin);
  return cursor.Skip();
}

bool KinetoEvents::ReadArgs(JsonCursor& cursor, Args& args) {
  if (!cursor.Take('{')) return false;
  if (cursor.Take('}')) return true;
  do {
    std::string_view key;
    if (!cursor.String(key) || !cursor.Take(':') || !ReadArg(cursor, key, args)) return false;
  } while (cursor.Take(','));
  return cursor.Take('}');
}

bool KinetoEvents::ReadArg(JsonCursor& cursor, std::string_view key, Args& args) {
  switch (key.size()) {
    case 3:
      if (Is(key, "Seq")) return ReadNumber(cursor, args.collective_sequence);
      break;
    case 4:
      if (Is(key, "name")) return ReadText(cursor, args.name);
      break;
    case 5:
      if (Is(key, "bytes")) return ReadNumber(cursor, args.bytes);
      if (Is(key, "Bytes")) return cursor.Skip();
      if (Is(key, "dtype")) return ReadText(cursor, args.dtype);
      break;
    case 6:
      if (Is(key, "stream")) return ReadNumber(cursor, args.stream);
      if (Is(key, "device")) return ReadNumber(cursor, args.device);
      break;
    case 8:
      if (Is(key, "CallFrom")) return ReadText(cursor, args.call_from);
      break;
    case 9:
      if (Is(key, "Device Id")) return ReadNumber(cursor, args.device_id);
      break;
    case 10:
      if (Is(key, "Input Dims")) return cursor.Raw(args.dims);
      if (Is(key, "Input type")) return cursor.Raw(args.types);
      if (Is(key, "Group size")) return ReadNumber(cursor, args.ranks);
      if (Is(key, "Call stack")) return ReadText(cursor, args.call_stack);
      break;
    case 11:
      if (Is(key, "correlation")) return ReadNumber(cursor, args.correlation);
      if (Is(key, "External id") || Is(key, "external id")) return ReadNumber(cursor, args.external);
      if (Is(key, "Device Type")) return ReadNumber(cursor, args.device_type);
      break;
    case 13:
      if (Is(key, "Fwd thread id")) return ReadNumber(cursor, args.forward_thread);
      if (Is(key, "In msg nelems")) return ReadNumber(cursor, args.elements_in);
      break;
    case 14:
      if (Is(key, "Out msg nelems")) return ReadNumber(cursor, args.elements_out);
      break;
    case 15:
      if (Is(key, "Sequence number")) return ReadNumber(cursor, args.sequence);
      if (Is(key, "Collective name")) return ReadText(cursor, args.collective);
      if (Is(key, "Concrete Inputs")) return cursor.Raw(args.concrete);
      if (Is(key, "Total Allocated")) return ReadNumber(cursor, args.allocated);
      break;
    case 18:
      if (Is(key, "Process Group Name")) return ReadText(cursor, args.group);
      break;
    case 25:
      if (Is(key, "Process Group Description")) return ReadText(cursor, args.purpose);
      break;
    default:
      break;
  }
  return cursor.Skip();
}

}  // namespace loopscope
