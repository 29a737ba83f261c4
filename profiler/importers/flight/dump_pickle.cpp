#include <fmt/format.h>

#include <bit>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/importers/flight/dump.h"

namespace loopscope {
namespace {

using nlohmann::json;

constexpr std::size_t kMostValues = 8'000'000, kMostTextBytes = std::size_t{512} << 20;
constexpr int kMostDepth = 32;

// A value on the machine's stack. Containers refer to values that others may refer to as well.
struct Value {
  enum class Kind : std::uint8_t { kPlain, kList, kDict, kMark };
  Kind kind = Kind::kPlain;
  json plain = {};
  std::vector<const Value*> items = {};  // of a dict: key, value, key, value …
};

struct Refused {
  std::string why;
};

// The machine that a pickle is a program for, without the instructions that name or call anything.
class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes) {}

  const Value* Run() {
    while (true) {
      const auto code = static_cast<unsigned char>(Take(1)[0]);
      if (code == '.') return Pop();
      if (!Number(code) && !Text(code) && !Container(code) && !Memo(code)) {
        throw Refused{
            fmt::format("holds the instruction 0x{:02x}, which plain data does not need: nothing of it is run", code)};
      }
    }
  }

 private:
  std::string_view Take(std::uint64_t count) {
    if (count > bytes_.size()) throw Refused{"ends early"};
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::uint64_t Unsigned(int bytes) {
    std::uint64_t value = 0;
    const std::string_view raw = Take(static_cast<std::uint64_t>(bytes));
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    return value;
  }

  Value& Push(Value::Kind kind, json plain = {}) {
    if (values_.size() >= kMostValues) throw Refused{"holds too many values"};
    Value& value = values_.emplace_back();
    value.kind = kind;
    value.plain = std::move(plain);
    stack_.push_back(&value);
    return value;
  }
  bool Plain(json plain) {
    Push(Value::Kind::kPlain, std::move(plain));
    return true;
  }
  Value* Pop() {
    if (stack_.empty()) throw Refused{"is damaged"};
    Value* const value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<const Value*> PopToMark() {
    std::size_t at = stack_.size();
    while (at > 0 && stack_[at - 1]->kind != Value::Kind::kMark) --at;
    if (at == 0) throw Refused{"is damaged"};
    std::vector<const Value*> items(stack_.begin() + static_cast<std::ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    return items;
  }

  bool Number(unsigned char code) {
    switch (code) {
      case 0x80:  // the protocol
        Take(1);
        return true;
      case 0x95:  // how long the next stretch is
        Take(8);
        return true;
      case 'N':
        return Plain(nullptr);
      case 0x88:
        return Plain(true);
      case 0x89:
        return Plain(false);
      case 'K':
        return Plain(Unsigned(1));
      case 'M':
        return Plain(Unsigned(2));
      case 'J':
        return Plain(static_cast<std::int32_t>(Unsigned(4)));
      case 'G': {  // big-endian
        const std::uint64_t bits = Unsigned(8);
        return Plain(std::bit_cast<double>(__builtin_bswap64(bits)));
      }
      case 0x8a:
        return Long();
      default:
        return false;
    }
  }
  bool Long() {
    const auto bytes = static_cast<int>(Unsigned(1));
    if (bytes > 8) throw Refused{"holds a number that does not fit into 64 bits"};
    if (bytes == 0) return Plain(0);
    const std::uint64_t bits = Unsigned(bytes) << (64 - 8 * bytes);
    const std::int64_t value = static_cast<std::int64_t>(bits) >> (64 - 8 * bytes);
    return value < 0 ? Plain(value) : Plain(static_cast<std::uint64_t>(value));
  }

  bool Text(unsigned char code) {
    const int size = code == 'X' || code == 'T' || code == 'B' ? 4 : code == 0x8c || code == 'U' || code == 'C' ? 1 : 0;
    if (size == 0) return false;
    return Plain(std::string(Take(Unsigned(size))));
  }

  void Append(std::vector<const Value*> items, Value::Kind kind) {
    if (stack_.empty() || stack_.back()->kind != kind) throw Refused{"is damaged"};
    if (kind == Value::Kind::kDict && items.size() % 2 != 0) throw Refused{"is damaged"};
    auto& to = stack_.back()->items;
    to.insert(to.end(), items.begin(), items.end());
  }

  bool Container(unsigned char code) {
    switch (code) {
      case '(':
        Push(Value::Kind::kMark);
        return true;
      case ']':
      case ')':
        Push(Value::Kind::kList);
        return true;
      case '}':
        Push(Value::Kind::kDict);
        return true;
      case 't': {
        auto items = PopToMark();
        Push(Value::Kind::kList).items = std::move(items);
        return true;
      }
      case 0x85:
      case 0x86:
      case 0x87: {
        std::vector<const Value*> items(code - 0x84);
        for (std::size_t i = items.size(); i-- > 0;) items[i] = Pop();
        Push(Value::Kind::kList).items = std::move(items);
        return true;
      }
      case 'a':
      case 's': {
        std::vector<const Value*> items(code == 'a' ? 1 : 2);
        for (std::size_t i = items.size(); i-- > 0;) items[i] = Pop();
        Append(std::move(items), code == 'a' ? Value::Kind::kList : Value::Kind::kDict);
        return true;
      }
      case 'e':
        Append(PopToMark(), Value::Kind::kList);
        return true;
      case 'u':
        Append(PopToMark(), Value::Kind::kDict);
        return true;
      default:
        return false;
    }
  }

  bool Memo(unsigned char code) {
    switch (code) {
      case 'q':
      case 'r':
        return Keep(Unsigned(code == 'q' ? 1 : 4));
      case 0x94:
        return Keep(memo_.size());
      case 'h':
      case 'j': {
        const auto found = memo_.find(Unsigned(code == 'h' ? 1 : 4));
        if (found == memo_.end()) throw Refused{"is damaged"};
        stack_.push_back(found->second);
        return true;
      }
      default:
        return false;
    }
  }
  bool Keep(std::uint64_t number) {
    if (stack_.empty()) throw Refused{"is damaged"};
    memo_[number] = stack_.back();
    return true;
  }

  std::string_view bytes_;
  std::deque<Value> values_;
  std::vector<Value*> stack_;
  std::unordered_map<std::uint64_t, Value*> memo_;
};

// Expands shared values, within bounds: a few bytes may represent any number of values.
class Expansion {
 public:
  json Of(const Value& value, int depth = 0) {
    if (++values_ > kMostValues || depth > kMostDepth) throw Refused{"expands to too many values"};
    if (value.kind == Value::Kind::kPlain) {
      if (value.plain.is_string()) text_bytes_ += value.plain.get_ref<const std::string&>().size();
      if (text_bytes_ > kMostTextBytes) throw Refused{"expands to too much text"};
      return value.plain;
    }
    if (value.kind == Value::Kind::kMark) throw Refused{"is damaged"};
    if (value.kind == Value::Kind::kList) {
      json list = json::array();
      for (const Value* item : value.items) list.push_back(Of(*item, depth + 1));
      return list;
    }
    json dict = json::object();
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const json& key = value.items[i]->plain;
      if (key.is_string()) dict[key.get_ref<const std::string&>()] = Of(*value.items[i + 1], depth + 1);
    }
    return dict;
  }

 private:
  std::size_t values_ = 0, text_bytes_ = 0;
};

}  // namespace

bool MayBePickle(std::string_view head) {
  return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

Result<json> PlainPickle(std::string_view bytes) {
  try {
    Machine machine(bytes);
    return Expansion().Of(*machine.Run());
  } catch (const Refused& refused) {
    return Error{refused.why, "", ""};
  }
}

}  // namespace loopscope
