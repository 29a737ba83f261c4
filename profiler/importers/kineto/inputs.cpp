#include "profiler/importers/kineto/inputs.h"

#include <vector>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/kineto/names.h"

namespace loopscope {
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
