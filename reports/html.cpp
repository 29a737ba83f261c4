// The report as one HTML file that needs nothing else: template, style, scripts and the chart library are embedded at
// build (see html/), the data is inert JSON that the scripts turn into text nodes.
#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/core/format.h"
#include "reports/formats.h"
#include "reports/html/data.h"
#include "reports/words/escape.h"

namespace loopscope {

extern const std::pair<std::string_view, std::string_view> kPageParts[];
extern const std::size_t kPagePartsCount;

namespace {

std::string_view PagePart(std::string_view stem) {
  for (std::size_t i = 0; i < kPagePartsCount; ++i) {
    if (kPageParts[i].first == stem) return kPageParts[i].second;
  }
  return "";
}

// For readers without scripts.
std::string PlainText(const Report& report) {
  Output plain;
  if (!FindFormat("text")->write(report, plain)) return "";
  std::string text;
  for (std::string_view rest = plain.bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += XmlText(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

// JSON that an HTML parser can only read as text.
std::string InertJson(const Report& report) {
  const std::string json = PageData(report).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string inert;
  inert.reserve(json.size() + 64);
  for (const char byte : json) {
    if (byte == '<') {
      inert += "\\u003c";
    } else if (byte == '>') {
      inert += "\\u003e";
    } else {
      inert += byte;
    }
  }
  return inert;
}

std::string Filled(std::string_view part, const Report& report) {
  if (part == "data") return InertJson(report);
  if (part == "plain") return PlainText(report);
  if (part == "title") return XmlText(report.run.command.empty() ? "report" : report.run.command.back(), 60);
  return std::string(PagePart(part));
}

// Each "{{part}}" in the template, once.
Result<void> WriteHtml(const Report& report, Output& output) {
  std::string_view page = PagePart("template");
  for (std::size_t open; (open = page.find("{{")) != page.npos;) {
    const std::size_t close = page.find("}}", open);
    output.bytes += page.substr(0, open);
    output.bytes += Filled(page.substr(open + 2, close - open - 2), report);
    page.remove_prefix(close + 2);
  }
  output.bytes += page;
  return {};
}

}  // namespace

extern const Format kHtml = {"html", "a page that works offline", WriteHtml};

}  // namespace loopscope
