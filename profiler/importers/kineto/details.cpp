#include "profiler/importers/kineto/details.h"

#include <algorithm>
#include <vector>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/kineto/names.h"

namespace loopscope {
namespace {

// Ranges that need their own place if no op above them has one.
bool WantsStack(const Event& event) {
  return event.kind == EventKind::kRange && !event.is_range(RangeCategory::kDeviceCall);
}

}  // namespace

void KinetoDetails::Enter(const PythonCall& call) {
  while (!frames_.empty() && frames_.back().end_ns <= call.start_ns) frames_.pop_back();
  const std::uint32_t caller = CalledBy(call);
  frames_.push_back({call.end_ns, stacks_.Called(caller, call.name), caller, call.name});
}

// The caller is the running function; the call names the line within it.
std::uint32_t KinetoDetails::CalledBy(const PythonCall& call) {
  if (frames_.empty()) return kNone;
  const Frame& running = frames_.back();
  if (call.called_from == kNone || running.stack == running.caller) return running.stack;
  return stacks_.Called(running.caller, running.name, call.called_from);
}

void KinetoDetails::MarkDeviceUse(const std::vector<Event>& events) {
  for (std::size_t i = open_.size(); i-- > 0 && !on_device_[open_[i]];) {
    if (events[open_[i]].kind == EventKind::kOp) on_device_[open_[i]] = true;
  }
}

void KinetoDetails::Add(std::uint32_t thread, std::vector<Event>& events, const std::vector<PythonCall>& python) {
  frames_.clear();
  open_.clear();
  called_.assign(python.empty() ? 0 : events.size(), kNone);
  on_device_.assign(events.size(), false);
  std::size_t next_call = 0;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    while (!open_.empty() && events[open_.back()].end_ns <= event.start_ns) open_.pop_back();
    for (; next_call < python.size() && python[next_call].start_ns <= event.start_ns; ++next_call) {
      Enter(python[next_call]);
    }
    while (!frames_.empty() && frames_.back().end_ns <= event.start_ns) frames_.pop_back();
    if (event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync)) {
      if (event.value != 0) MarkDeviceUse(events);
    }
    const auto is_op = [&](std::uint32_t at) { return events[at].kind == EventKind::kOp; };
    const bool outermost = !python.empty() && std::ranges::none_of(open_, is_op);
    if (outermost && !frames_.empty()) called_[i] = frames_.back().stack;
    if (event.kind == EventKind::kOp || WantsStack(event)) open_.push_back(i);
  }
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    const std::uint32_t stack = called_.empty() ? kNone : called_[i];
    if (event.kind == EventKind::kOp) {
      event.shape_hash = ShapeHash(event.detail);
      event.detail = Detail(event.detail, stack, on_device_[i]);
    } else if (stack != kNone && WantsStack(event)) {
      trace_.range_stacks[std::uint64_t{thread} << 32 | i] = stack;
    }
  }
}

std::uint32_t KinetoDetails::ShapeHash(std::uint32_t raw) const {
  const std::uint32_t inputs = raw < raw_.details.size() ? raw_.details[raw].inputs : kNone;
  return inputs < raw_.inputs.size() ? raw_.inputs[inputs].shape_hash : 0;
}

std::uint32_t KinetoDetails::Detail(std::uint32_t raw, std::uint32_t stack, bool on_device) {
  StringId inputs = 0;
  if (raw < raw_.details.size()) {
    const KinetoRawDetails::Detail& detail = raw_.details[raw];
    if (detail.inputs < raw_.inputs.size()) {
      inputs = on_device ? raw_.inputs[detail.inputs].on_device : raw_.inputs[detail.inputs].text;
    }
    if (detail.stack != kNone) stack = detail.stack;
  }
  if (inputs == 0 && stack == kNone) return kNone;
  std::vector<EventDetail>& details = trace_.details;
  const auto number = static_cast<std::uint32_t>(details.size());
  const auto [place, added] = known_.try_emplace(std::uint64_t{inputs} << 32 | stack, number);
  if (added) details.push_back({inputs, stack, kNone});
  return place->second;
}

namespace {

constexpr std::size_t kMaxInputs = 4096;

// The elements of a raw list; a string's without its quotes.
std::vector<std::string> ListOf(std::string_view raw) {
  std::string padded(raw);
  padded.append(kJsonPadding, '\0');
  JsonCursor cursor(std::string_view(padded).substr(0, raw.size()));
  std::vector<std::string> list;
  if (!cursor.Take('[') || cursor.Take(']')) return list;
  do {
    std::string_view one;
    const bool text = cursor.Next() == '"';
    if (!(text ? cursor.String(one) : cursor.Raw(one))) break;
    list.push_back(text ? UnescapedJson(one) : std::string(one));
  } while (list.size() < kMaxInputs && cursor.Take(','));
  return list;
}

// "[32, 3, 48]" → "32,3,48"; false when it is not a flat list of numbers (a list of tensors has lists of sizes).
bool SizesOf(std::string_view raw, std::string& sizes) {
  for (const char byte : raw) {
    if ((byte >= '0' && byte <= '9') || byte == ',') sizes += byte;
    if (byte != '[' && byte != ']' && byte != ' ' && byte != '\n' && byte != ',' && (byte < '0' || byte > '9'))
      return false;
  }
  return raw.rfind('[') == 0;
}

// A value is shown as the probes write it: "True" → "true".
std::string ValueText(const std::string& value) {
  if (value == "True") return "true";
  if (value == "False") return "false";
  return value.empty() || value.find(';') != value.npos ? "?" : value;
}

}  // namespace

std::string InputsText(std::string_view dims, std::string_view types, std::string_view concrete,
                       std::string_view device) {
  const std::vector<std::string> sizes = ListOf(dims), kinds = ListOf(types), values = ListOf(concrete);
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) text += ';';
    const std::string& kind = kinds[i];
    std::string shape;
    const bool tensor = !kind.empty() && !kind.starts_with("Scalar") && !kind.ends_with("List") && i < sizes.size() &&
                        SizesOf(sizes[i], shape);
    if (!tensor) {
      text += i < values.size() ? ValueText(values[i]) : "?";
      continue;
    }
    text.append(WireDtype(kind)).append("[").append(shape).append("]");
    if (!device.empty()) text.append("@").append(device);
  }
  return text;
}

}  // namespace loopscope
