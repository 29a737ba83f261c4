// A page of terminal text: every line passes Printable(), fits the width, and is coloured only when that is wanted.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "profiler/core/format.h"

namespace loopscope {

// Where texts begin, beside what names them: findings and trials; the head of a page, and pages of one table.
inline constexpr std::size_t kTextColumn = 27, kLabelColumn = 11;

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen };

struct Span {
  std::string_view text;
  Style style = Style::kPlain;
};

class Page {
 public:
  explicit Page(Output& output);

  std::size_t columns() const { return columns_; }
  void Blank();
  void Heading(std::string_view text);  // after an empty line
  // One line; what does not fit is cut.
  void Line(std::initializer_list<Span> spans);
  // `head`, and `text` wrapped to the right of column `indent`; a longer head has a line of its own. An entry without
  // text is its head.
  void Entry(std::size_t indent, Span head, Span text);

 private:
  void Paint(std::string_view text, Style style);

  Output& output_;
  std::size_t columns_;
};

}  // namespace loopscope
