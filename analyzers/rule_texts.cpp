#include "analyzers/rule_texts.h"

#include <cstddef>
#include <utility>

namespace loopscope {

extern const std::pair<std::string_view, std::string_view> kRuleTexts[];
extern const std::size_t kRuleTextsCount;

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
  constexpr std::string_view kHeading = "\n## Fix\n\n";
  std::string_view text = RuleText(id);
  const std::size_t heading = text.find(kHeading);
  if (heading == std::string_view::npos) return "";
  text.remove_prefix(heading + kHeading.size());
  std::string advice(text.substr(0, text.find("\n\n")));
  for (char& letter : advice) {
    if (letter == '\n') letter = ' ';
  }
  while (!advice.empty() && advice.back() == ' ') advice.pop_back();
  return advice;
}

}  // namespace loopscope
