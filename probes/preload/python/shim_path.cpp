#include "probes/preload/python/shim_path.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "probes/preload/attach.h"

namespace loopscope {
namespace {

constexpr char kVariable[] = "PYTHONPATH";

bool RunsPython() noexcept {
  return dlsym(RTLD_DEFAULT, "Py_BytesMain") != nullptr;
}

bool FindShim(char (&folder)[PATH_MAX]) noexcept {
  return PathBesideLibrary("python/site", folder, sizeof folder) && access(folder, R_OK) == 0;
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
