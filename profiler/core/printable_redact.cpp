#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <utility>

#include "profiler/core/printable.h"

namespace loopscope {
namespace {

// Anywhere in a name.
constexpr std::array<std::string_view, 10> kSecretParts = {"PASSWORD",      "PASSWD",   "PASSPHRASE", "SECRET",
                                                           "CREDENTIAL",    "COOKIE",   "BEARER",     "APIKEY",
                                                           "AUTHORIZATION", "ACCESSKEY"};
// As one of a name's words: "--max-tokens" and "keyframes" hold none.
constexpr std::array<std::string_view, 12> kSecretWords = {"KEY", "TOKEN", "AUTH", "PASS", "PWD",       "PW",
                                                           "PAT", "SAS",   "SIG",  "JWT",  "SIGNATURE", "DSN"};
// Words for the place of a secret, not the secret itself.
constexpr std::array<std::string_view, 4> kPlaces = {"FILE", "PATH", "DIR", "FOLDER"};
// As a name's last word: "--pin-memory" holds none. Their values may be short numbers.
constexpr std::array<std::string_view, 3> kSecretEnds = {"PIN", "LOGIN", "OTP"};
constexpr std::size_t kLongestPlainNumber = 6;
constexpr std::size_t kLongest = 1 << 14;  // bytes of a text: std::regex recurses for each character

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
  const std::vector<std::string> words = WordsOf(name);
  if (!words.empty() && IsOneOf(kSecretEnds, words.back())) return true;
  const std::string joined = Joined(words);
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
      {std::regex("(://[^/[:space:]]*hooks?[^/[:space:]]*/)[^[:space:]\"']+", any_case), "$1***"},
      {std::regex("(/web-?hooks?[a-z0-9]*/)[^[:space:]\"'?]+", any_case), "$1***"},
      {std::regex("/bot[0-9]{5,}:[A-Za-z0-9_-]{10,}"), "/bot***"},
      {std::regex("-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"']*"), "***"},
      {std::regex("\\b(bearer|basic)(\\s+)[a-z0-9._~+/=-]{4,}", any_case), "$1$2***"},
      {std::regex(
           "\\b(hf_|sk-|pk-|rk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|npm_|pypi-|AKIA|ASIA|AIza|dop_v1_|"
           "sk_live_|sk_test_|rk_live_|glrt-|hvs\\.|SG\\.|ya29\\.|xapp-)"
           "[A-Za-z0-9_-]{8,}"),
       "$1***"},
      {std::regex("\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{4,}(\\.[A-Za-z0-9_-]*)?"), "***"},
  };
  return patterns;
}

bool IsKeyChar(unsigned char c) {
  return std::isalnum(c) || c == '_' || c == '.' || c == '-';
}
bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}
bool IsQuote(char c) {
  return c == '"' || c == '\'';
}

// Reads a text for keys and their values, whatever writes them: `key=value` of options, variables, URLs and connection
// strings, `"key": "value"` of JSON, also with its quotes escaped, `Key: value` of headers, `--key value` of a shell's
// text.
class Fields {
 public:
  Fields(std::string_view text, bool quoted_only) : text_(text), quoted_only_(quoted_only) {}

  std::string Without() {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (at < copied_) continue;  // inside a value that was removed
      const char c = text_[at];
      if (c == '=' || c == ':') Take(KeyBefore(at), at + 1);
      if (!quoted_only_ && IsBlank(c) && at > 0 && IsKeyChar(static_cast<unsigned char>(text_[at - 1]))) {
        const std::string_view key = KeyBefore(at);
        if (key.starts_with("--") && !text_.substr(SkipBlanks(at)).starts_with("--")) Take(key, at);
      }
    }
    return out_.append(text_.substr(copied_));
  }

 private:
  std::size_t SkipBlanks(std::size_t at) const {
    while (at < text_.size() && IsBlank(text_[at])) ++at;
    return at;
  }

  // The key that ends before a separator, without its quotes.
  std::string_view KeyBefore(std::size_t end) const {
    while (end > 0 && IsBlank(text_[end - 1])) --end;
    while (end > 0 && (IsQuote(text_[end - 1]) || text_[end - 1] == '\\' || text_[end - 1] == ']')) --end;
    std::size_t begin = end;
    while (begin > 0 && IsKeyChar(static_cast<unsigned char>(text_[begin - 1]))) --begin;
    return text_.substr(begin, end - begin);
  }

  struct Value {
    std::size_t begin = 0, end = 0;
    bool quoted = false;
  };

  Value ValueAt(std::size_t at, bool of_header) const {
    at = SkipBlanks(at);
    std::size_t quote = at;
    while (quote < text_.size() && text_[quote] == '\\') ++quote;
    if (quote < text_.size() && IsQuote(text_[quote])) {
      const std::string_view closing = text_.substr(at, quote + 1 - at);  // with as many backslashes
      const std::size_t end = text_.find(closing, quote + 1);
      return {quote + 1, end == text_.npos ? text_.size() : end, true};
    }
    if (at < text_.size() && text_[at] == '[') {
      const std::size_t end = text_.find(']', at);
      return {at + 1, end == text_.npos ? text_.size() : end, true};
    }
    const std::size_t end = text_.find_first_of(of_header ? "\"'\r\n" : "&;,#\"'{}[]()\\ \t\r\n", at);
    return {at, end == text_.npos ? text_.size() : end, false};
  }

  // "Authorization: token X", "Cookie: a=X; b=Y": the whole value is secret, except the scheme's name.
  static bool IsHeader(std::string_view key) {
    const std::string joined = Joined(WordsOf(key));
    return joined.ends_with("AUTHORIZATION") || joined.ends_with("COOKIE");
  }

  void Take(std::string_view key, std::size_t after) {
    if (key.empty() || text_.substr(after).starts_with("//") || text_.substr(after).starts_with('=')) return;
    const bool header = text_[after - 1] == ':' && IsHeader(key);
    Value value = ValueAt(after, header);
    if (quoted_only_ && !value.quoted) return;
    const std::string_view shown = text_.substr(value.begin, value.end - value.begin);
    if (!IsSecret(key, shown) || shown == kRedacted) return;
    const std::size_t blank = shown.find(' ');
    if (IsHeader(key) && blank != shown.npos && shown.substr(0, blank).find('=') == shown.npos)
      value.begin += blank + 1;
    out_.append(text_.substr(copied_, value.begin - copied_)).append(kRedacted);
    copied_ = value.end;
  }

  std::string_view text_;
  const bool quoted_only_;  // in source code, where `key = value` names another variable
  std::string out_;
  std::size_t copied_ = 0;
};

// "postgres://user:p/w@host": up to the last @ of the word, unless what follows the colon is a port.
std::string WithoutPasswords(const std::string& text) {
  static const std::regex with_colon("://[^/@?#:[:space:]]*:([^/?#[:space:]\"']*)[^[:space:]\"']*@");
  std::string out;
  auto rest = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), with_colon), end; at != end; ++at) {
    const std::smatch& match = *at;
    const std::string first = match[1].str();
    const bool port = !first.empty() && first.find_first_not_of("0123456789") == first.npos;
    out.append(rest, match[0].first).append(port ? match[0].str() : "://***@");
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
  if (text.size() > kLongest) return Redacted(text.substr(0, kLongest)) + "…";
  std::string redacted(text);
  redacted = WithoutPasswords(redacted);
  for (const auto& [pattern, replacement] : Patterns()) redacted = std::regex_replace(redacted, pattern, replacement);
  return Fields(redacted, false).Without();
}

std::string RedactedSource(std::string_view line) {
  std::string redacted = WithoutPasswords(std::string(line.substr(0, kLongest)));
  for (const auto& [pattern, replacement] : Patterns()) redacted = std::regex_replace(redacted, pattern, replacement);
  return Fields(redacted, true).Without();
}

std::vector<std::string> Redacted(const std::vector<std::string>& command) {
  std::vector<std::string> redacted;
  bool is_value = false;  // of the previous option
  std::string option;
  for (const std::string& argument : command) {
    const std::size_t equals = argument.find('=');
    const bool is_option = argument.starts_with('-');
    const std::size_t colon = argument.find(':');
    if (is_value && !argument.starts_with("--") && IsSecret(option, argument)) {
      redacted.emplace_back(kRedacted);
    } else if (is_value && (option == "-u" || option == "--user") && colon != argument.npos) {
      redacted.push_back(argument.substr(0, colon + 1) + std::string(kRedacted));
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
