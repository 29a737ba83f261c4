#include "reports/text/page.h"

#include <algorithm>

#include "profiler/core/printable.h"

namespace loopscope {
namespace {

constexpr std::size_t kMinColumns = 40;
constexpr std::size_t kLongestText = 600;  // of one entry, in columns

std::string_view Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kRed:
      return "\x1b[31m";
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kGreen:
      return "\x1b[32m";
  }
  return "";
}

}  // namespace

Page::Page(Output& output)
    : output_(output), columns_(std::max<std::size_t>(output.columns > 0 ? output.columns : 0, kMinColumns)) {}

void Page::Paint(std::string_view text, Style style) {
  const bool paint = output_.color && style != Style::kPlain && !text.empty();
  if (paint) output_.bytes += Code(style);
  output_.bytes += text;
  if (paint) output_.bytes += "\x1b[0m";
}

void Page::Blank() {
  output_.bytes += '\n';
}

void Page::Heading(std::string_view text) {
  Blank();
  Line({{text, Style::kBold}});
}

void Page::Line(std::initializer_list<Span> spans) {
  std::size_t left = columns_;
  for (const Span& span : spans) {
    if (left == 0) break;
    const std::string text = Printable(span.text, left);
    Paint(text, span.style);
    left -= std::min(left, DisplayWidth(text));
  }
  Blank();
}

void Page::Entry(std::size_t indent, Span head, Span text) {
  indent = std::min(indent, columns_ / 2);
  const std::string label = Printable(head.text, columns_);
  std::size_t column = DisplayWidth(label);
  Paint(label, head.style);
  if (text.text.empty()) return Blank();
  if (column >= indent && column > 0) {
    Blank();
    column = 0;
  }
  for (const std::string& line : Wrap(Printable(text.text, kLongestText), columns_ - indent)) {
    output_.bytes.append(indent - column, ' ');
    Paint(line, text.style);
    Blank();
    column = 0;
  }
}

}  // namespace loopscope
