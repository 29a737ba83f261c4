// Decides which frames are the user's, and names them.
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "profiler/importers/capture/symbolizer.h"

namespace loopscope {
namespace {

constexpr std::array<std::string_view, 24> kLibraries{
    "libtorch", "libc10",     "libstdc++", "libc++",       "libc.so", "libc-",    "libm.so",   "libgcc_s",
    "ld-linux", "libpthread", "libdl.",    "libloopscope", "libcuda", "libcudnn", "libcublas", "libnv",
    "libcupti", "libnccl",    "libgomp",   "libomp",       "libiomp", "libmkl",   "libshm",    "libpython"};

constexpr std::array<std::string_view, 5> kLibraryFolders{"/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/",
                                                          "/usr/local/cuda"};

constexpr std::array<std::string_view, 7> kForeignSources{
    "/torch/include/", "/usr/include/",        "/usr/lib/", "/c++/", "/probes/loopscope.h",
    "<frozen",         "/site-packages/torch/"};

// The position of the bracket that `text[close]` closes; npos when there is none.
std::size_t Opening(std::string_view text, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.npos;
}

// Where the return type of a template's instance ends: after the last blank outside all brackets.
std::size_t AfterReturnType(std::string_view name) {
  if (name.find("operator") != name.npos) return 0;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    depth += (c == '>' || c == ')' || c == '}') - (c == '<' || c == '(' || c == '{');
    if (c == ' ' && depth == 0) return i + 1;
  }
  return 0;
}

}  // namespace

bool IsUserModule(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (path.empty() || path.front() != '/' || path.find("/torch/lib/") != path.npos) return false;
  const auto starts = [&](std::string_view prefix) { return file.starts_with(prefix); };
  const auto below = [&](std::string_view folder) { return path.starts_with(folder); };
  return std::ranges::none_of(kLibraries, starts) && std::ranges::none_of(kLibraryFolders, below);
}

bool IsUserSource(std::string_view path) {
  return !path.empty() &&
         std::ranges::none_of(kForeignSources, [&](std::string_view part) { return path.find(part) != path.npos; });
}

std::string ReadableName(const char* mangled) {
  if (mangled == nullptr) return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                             &std::free);
  return WithoutParameters(status == 0 && readable ? readable.get() : mangled);
}

std::string WithoutParameters(std::string_view demangled) {
  std::string_view name = demangled;
  for (const std::string_view suffix : {" [clone", " const", " volatile", "&&", "&"}) {
    const std::size_t at = name.rfind(suffix);
    if (at != name.npos && at > 0 && name.find_first_of(")", at) == name.npos) name = name.substr(0, at);
  }
  if (name.ends_with(')')) {
    const std::size_t open = Opening(name, name.size() - 1);
    const bool scope = open != name.npos && name.substr(open) == "(anonymous namespace)";
    if (open != name.npos && open > 0 && !scope) name = name.substr(0, open);
  }
  return std::string(name.substr(AfterReturnType(name)));
}

Where WhereOfText(std::string_view text) {
  Where where;
  const std::size_t second = text.rfind(':');
  const std::size_t first = second == text.npos || second == 0 ? text.npos : text.rfind(':', second - 1);
  if (first == text.npos) return {std::string(text), 0, ""};
  const std::string_view line = text.substr(first + 1, second - first - 1);
  std::from_chars(line.data(), line.data() + line.size(), where.line);
  where.path = text.substr(0, first);
  where.function = text.substr(second + 1);
  return where;
}

}  // namespace loopscope
