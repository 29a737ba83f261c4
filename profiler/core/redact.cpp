#include "profiler/core/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <utility>

namespace loopscope {
namespace {

// Anywhere in a name.
constexpr std::array<std::string_view, 10> kSecretParts = {"PASSWORD",      "PASSWD",   "PASSPHRASE", "SECRET",
                                                           "CREDENTIAL",    "COOKIE",   "BEARER",     "APIKEY",
                                                           "AUTHORIZATION", "ACCESSKEY"};
// As one of a name's words: "--max-tokens" and "keyframes" hold none.
constexpr std::array<std::string_view, 12> kSecretWords = {"KEY", "TOKEN", "AUTH", "PASS", "PWD",       "PW",
                                                           "PAT", "SAS",   "SIG",  "JWT",  "SIGNATURE", "DSN"};
// Names of where a secret lies.
constexpr std::array<std::string_view, 4> kPlaces = {"FILE", "PATH", "DIR", "FOLDER"};
constexpr std::size_t kLongestPlainNumber = 6;

// "--apiToken" → API, TOKEN.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (const unsigned char c : name) {
    const bool begins = std::isupper(c) && after_lower;
    if (!std::isalnum(c) || begins) words.emplace_back();
    if (std::isalnum(c)) words.back() += static_cast<char>(std::toupper(c));
    after_lower = std::islower(c);
  }
  std::erase(words, "");
  return words;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += word;
  return joined;
}

bool IsOneOf(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// "--key-dim 64" is a size.
bool IsPlainNumber(std::string_view value) {
  const auto in_number = [](unsigned char c) { return std::isdigit(c) || c == '.' || c == '-'; };
  return value.size() <= kLongestPlainNumber && std::ranges::all_of(value, in_number);
}

bool HasSecretPart(std::string_view name) {
  const std::string joined = Joined(WordsOf(name));
  return std::ranges::any_of(kSecretParts, [&](std::string_view part) { return joined.find(part) != joined.npos; });
}

bool IsSecret(std::string_view name, std::string_view value) {
  return !value.empty() && SoundsSecret(name) && (HasSecretPart(name) || !IsPlainNumber(value));
}

using Pattern = std::pair<std::regex, const char*>;

const std::vector<Pattern>& Patterns() {
  const auto any_case = std::regex::icase | std::regex::optimize;
  static const std::vector<Pattern> patterns = {
      {std::regex("://[^/@?#[:space:]]+@"), "://***@"},
      {std::regex("\\b(bearer|basic)(\\s+)[a-z0-9._~+/=-]{4,}", any_case), "$1$2***"},
      {std::regex(
           "\\b(hf_|sk-|pk-|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|npm_|pypi-|AKIA|ASIA|AIza|dop_v1_)"
           "[A-Za-z0-9_-]{8,}"),
       "$1***"},
      {std::regex("\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{4,}(\\.[A-Za-z0-9_-]*)?"), "***"},
  };
  return patterns;
}

// "?sig=X&page=2" → "?sig=***&page=2"; "name=X;password=Y" likewise.
std::string WithoutSecretFields(const std::string& text) {
  static const std::regex field("([?&;,[:space:]])([A-Za-z0-9_.-]+)=([^&;,#[:space:]]+)");
  std::string out;
  auto rest = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), field), end; at != end; ++at) {
    const std::smatch& match = *at;
    out.append(rest, match[0].first);
    out += match[1].str() + match[2].str() + "=";
    out += IsSecret(match[2].str(), match[3].str()) ? std::string(kRedacted) : match[3].str();
    rest = match[0].second;
  }
  return out.append(rest, text.cend());
}

}  // namespace

bool SoundsSecret(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty() || IsOneOf(kPlaces, words.back())) return false;
  return HasSecretPart(name) ||
         std::ranges::any_of(words, [](const auto& word) { return IsOneOf(kSecretWords, word); });
}

std::string Redacted(std::string_view text) {
  constexpr std::size_t kLongest = 1 << 14;  // std::regex recurses for each character
  if (text.size() > kLongest) return Redacted(text.substr(0, kLongest)) + "…";
  std::string redacted(text);
  for (const auto& [pattern, replacement] : Patterns()) redacted = std::regex_replace(redacted, pattern, replacement);
  return WithoutSecretFields(redacted);
}

std::vector<std::string> Redacted(const std::vector<std::string>& command) {
  std::vector<std::string> redacted;
  bool is_value = false;  // of the option before
  std::string option;
  for (const std::string& argument : command) {
    const std::size_t equals = argument.find('=');
    const bool is_option = argument.starts_with('-');
    if (is_value && !is_option && IsSecret(option, argument)) {
      redacted.emplace_back(kRedacted);
    } else if (equals != argument.npos && argument.find_first_of(" ?/") > equals &&
               IsSecret(argument.substr(0, equals), argument.substr(equals + 1))) {
      redacted.push_back(argument.substr(0, equals + 1) + std::string(kRedacted));
    } else {
      redacted.push_back(Redacted(std::string_view(argument)));
    }
    is_value = is_option && equals == argument.npos;
    option = argument;
  }
  return redacted;
}

}  // namespace loopscope
