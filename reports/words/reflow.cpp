#include "reports/words/reflow.h"

#include <algorithm>

#include "profiler/core/printable.h"

namespace loopscope {
namespace {

bool StartsItem(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return text.starts_with("- ") || text.starts_with("* ") || (digits > 0 && text.substr(digits).starts_with(". "));
}

// Gathers the lines of a paragraph or an item until it ends.
class Reflow {
 public:
  explicit Reflow(std::size_t columns) : columns_(std::max<std::size_t>(columns, 20)) {}

  void Add(std::string_view line) {
    const bool fence = line.starts_with("```");
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(indent);
    const bool verbatim = in_code_ || fence || text.empty() || text.starts_with('#') || text.starts_with('|') ||
                          (indent >= 4 && gathered_.empty());
    if (fence) in_code_ = !in_code_;
    if (verbatim) {
      Flush();
      out_ += line;
      out_ += '\n';
    } else if (StartsItem(text)) {
      Flush();
      first_ = std::string(line.substr(0, indent + text.find(' ') + 1));
      gathered_ = line.substr(first_.size());
    } else {
      if (gathered_.empty()) first_ = std::string(line.substr(0, indent));
      gathered_ += (gathered_.empty() ? "" : " ") + std::string(text);
    }
  }

  std::string Take() {
    Flush();
    return std::move(out_);
  }

 private:
  void Flush() {
    if (gathered_.empty()) return;
    std::string lead = first_;
    const std::size_t room = columns_ - std::min(first_.size(), columns_);
    for (const std::string& line : Wrap(Printable(gathered_, gathered_.size()), room)) {
      out_ += lead + line + "\n";
      lead.assign(first_.size(), ' ');
    }
    gathered_.clear();
  }

  std::size_t columns_;
  bool in_code_ = false;
  std::string first_, gathered_, out_;  // prefix of the first line, the text, finished output
};

}  // namespace

std::string Reflowed(std::string_view markdown, std::size_t columns) {
  Reflow reflow(columns);
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    reflow.Add(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
  }
  return reflow.Take();
}

}  // namespace loopscope
