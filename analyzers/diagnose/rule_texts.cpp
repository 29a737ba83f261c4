#include "analyzers/diagnose/rule_texts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace loopscope {

extern const std::pair<std::string_view, std::string_view> kRuleTexts[];
extern const std::size_t kRuleTextsCount;

namespace {

constexpr std::string_view kFix = "\n## Fix\n\n", kFence = "\n```";

// The text below "## Fix", up to the next heading; empty when there is none.
std::string_view FixSection(std::string_view text) {
  const std::size_t heading = text.find(kFix);
  if (heading == text.npos) return "";
  text.remove_prefix(heading + kFix.size());
  return text.substr(0, text.find("\n## "));
}

CodeExample Example(std::string_view language, std::string_view code, bool both) {
  CodeExample example{std::string(language), "", std::string(code)};
  std::size_t cut = code.find("\n\n"), gap = 2;
  if (cut == code.npos) cut = code.find('\n'), gap = 1;
  if (!both || cut == code.npos) return example;
  example.before = code.substr(0, cut);
  example.after = code.substr(cut + gap);
  return example;
}

}  // namespace

std::string_view RuleText(std::string_view id) {
  for (std::size_t i = 0; i < kRuleTextsCount; ++i) {
    if (kRuleTexts[i].first == id) return kRuleTexts[i].second;
  }
  return "";
}

std::string RuleTitle(std::string_view id) {
  std::string_view line = RuleText(id);
  line = line.substr(0, line.find('\n'));
  const std::size_t colon = line.find(": ");
  return colon == std::string_view::npos ? "" : std::string(line.substr(colon + 2));
}

std::string RuleAdvice(std::string_view id) {
  const std::string_view text = FixSection(RuleText(id));
  std::string advice(text.substr(0, text.find("\n\n")));
  for (char& letter : advice) {
    if (letter == '\n') letter = ' ';
  }
  while (!advice.empty() && advice.back() == ' ') advice.pop_back();
  return advice;
}

std::vector<CodeExample> RuleExamples(std::string_view id) {
  std::vector<CodeExample> examples;
  std::string_view text = FixSection(RuleText(id));
  for (std::size_t open; (open = text.find(kFence)) != text.npos;) {
    const std::string_view intro = text.substr(0, open);
    text.remove_prefix(open + kFence.size());
    const std::string_view language = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(language.size() + 1, text.size()));
    const std::size_t close = text.find(kFence);
    if (close == text.npos) break;
    if (language == "cpp" || language == "python") {
      const std::size_t paragraph = intro.rfind("\n\n", intro.find_last_not_of('\n'));
      const bool both = intro.find("before and after", paragraph == intro.npos ? 0 : paragraph) != intro.npos;
      examples.push_back(Example(language, text.substr(0, close), both));
    }
    text.remove_prefix(close + kFence.size());
  }
  return examples;
}

}  // namespace loopscope
