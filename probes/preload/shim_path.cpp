#include "probes/preload/shim_path.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace loopscope {
namespace {

constexpr char kVariable[] = "PYTHONPATH";

bool RunsPython() noexcept {
  return dlsym(RTLD_DEFAULT, "Py_BytesMain") != nullptr;
}

// python/site lies beside this library; false where it does not.
bool FindShim(char (&folder)[PATH_MAX]) noexcept {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&FindShim), &here) == 0) return false;
  const std::string_view library = here.dli_fname;
  const std::size_t slash = library.rfind('/');
  if (slash == library.npos) return false;
  char script[PATH_MAX];
  const int length = static_cast<int>(slash);
  std::snprintf(folder, sizeof folder, "%.*s/python/site", length, here.dli_fname);
  std::snprintf(script, sizeof script, "%.*s/python/site/sitecustomize.py", length, here.dli_fname);
  return access(script, R_OK) == 0;
}

bool Holds(std::string_view list, std::string_view folder) noexcept {
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (list.substr(0, colon) == folder) return true;
    list.remove_prefix(colon == list.npos ? list.size() : colon + 1);
  }
  return false;
}

}  // namespace

void PutShimInReach() noexcept {
  char shim[PATH_MAX];
  if (!RunsPython() || !FindShim(shim)) return;
  const char* const set = std::getenv(kVariable);
  if (set == nullptr || *set == '\0') {
    setenv(kVariable, shim, 1);
    return;
  }
  if (Holds(set, shim)) return;
  char* joined = nullptr;
  if (asprintf(&joined, "%s:%s", shim, set) < 0) return;
  setenv(kVariable, joined, 1);
  std::free(joined);
}

}  // namespace loopscope
