#include "profiler/launch/probe_build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "profiler/core/file_text.h"
#include "profiler/core/host.h"
#include "profiler/core/text.h"
#include "profiler/launch/process.h"
#include "profiler/launch/program.h"
#include "profiler/system/environment.h"
#include "profiler/system/folder_copy.h"
#include "profiler/system/folders.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr char kProbeName[] = "libloopscope_torch.so";
constexpr double kBuildTimeoutS = 600, kAskTimeoutS = 20;
constexpr char kFailedName[] = "failed.txt";                 // beside it: the compiler's messages
constexpr char kWithoutProbeName[] = "torch-without-probe";  // in a run's folder, written by the shim
constexpr int kShownLines = 6;                               // of a compiler's message

// Prints torch's folder, its version and, if the build states it, the ABI of libstdc++'s strings. The working folder is
// taken off the path, since its modules are the program's; a marker line comes first, since a site's start-up code may
// print.
constexpr char kAsk[] =
    "import sys;sys.path[:]=[p for p in sys.path if p]\n"
    "import importlib.util as u,os,re\n"
    "s=u.find_spec('torch')\n"
    "if s is None or not s.origin: raise SystemExit(1)\n"
    "d=os.path.dirname(s.origin);v={}\n"
    "exec(open(os.path.join(d,'version.py')).read(),v)\n"
    "c=os.path.join(d,'share/cmake/Torch/TorchConfig.cmake')\n"
    "m=re.search(r'_GLIBCXX_USE_CXX11_ABI=(\\d)',open(c).read() if os.path.exists(c) else '')\n"
    "print('\\nloopscope asks');print(d);print(v['__version__']);print(m.group(1) if m else 1)\n";
constexpr char kAnswerLine[] = "loopscope asks";

// Compiles every source below the folder $1, $2 at a time, each object next to its source, and links them.
constexpr char kCompileAll[] =
    "cd \"$1\" && jobs=$2 && shift 2 && find . -name '*.cpp' | xargs -P \"$jobs\" -I{} \"$@\" -c {} -o {}.o && \"$@\" "
    "-shared "
    "-Wl,-z,now $(find . -name '*.o') -o ";

fs::path SourcesOf(const ProbePaths& probes) {
  return probes.preload.parent_path() / "sources";
}

std::vector<fs::path> FilesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// FNV-1a: to distinguish builds, not for security.
std::uint64_t HashOfFiles(const std::vector<fs::path>& files) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const fs::path& path : files) {
    for (const char c : path.filename().native() + FileText(path)) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
  }
  return hash;
}

std::string Compiler() {
  if (const char* const named = std::getenv("CXX"); named && *named) return named;
  for (const char* const word : {"c++", "g++", "clang++"}) {
    if (InspectProgram(word).kind != ProgramKind::kMissing) return word;
  }
  return "";
}

std::vector<std::string> CompileCommand(const std::string& compiler, const TorchInstall& torch) {
  const fs::path include = torch.folder / "include";
  return {compiler,
          "-std=c++20",
          "-O2",
          "-g1",
          "-fPIC",
          "-fvisibility=hidden",
          "-fvisibility-inlines-hidden",
          "-fno-plt",
          "-w",
          "-DNDEBUG",
          "-DFMT_HEADER_ONLY=1",
          torch.cxx11_abi ? "-D_GLIBCXX_USE_CXX11_ABI=1" : "-D_GLIBCXX_USE_CXX11_ABI=0",
          "-I.",
          "-isystem",
          include,
          "-isystem",
          include / "torch/csrc/api/include",
          "-Wl,--no-as-needed,-z,defs",
          "-L" + (torch.folder / "lib").native(),
          "-ltorch_cpu",
          "-lc10"};
}

// A temporary folder next to the probe being built, deleted at the end.
struct Workshop {
  explicit Workshop(const fs::path& beside) : path(beside.native() + fmt::format(".{}", getpid())) {}
  ~Workshop() { RemoveTree(path); }
  fs::path path;
};

Error Failed(const TorchInstall& torch, const std::string& why, const std::string& next) {
  return {fmt::format("no probe could be built for torch {}: {}", torch.version, why), torch.folder, next};
}

ProcessEnd Compile(const fs::path& folder, const std::string& compiler, const TorchInstall& torch, Signals& signals) {
  ProcessSpec spec;
  spec.command = {"sh", "-c",   std::string(kCompileAll) + kProbeName,
                  "sh", folder, std::to_string(std::max(1, ThisHost().cores))};
  for (const std::string& word : CompileCommand(compiler, torch)) spec.command.push_back(word);
  spec.environment = AsStrings(OwnEnvironment());
  spec.output = folder / "compiler.txt";
  spec.role = Role::kTrial;
  spec.timeout_s = kBuildTimeoutS;
  return RunProcess(spec, signals);
}

// Reads torch's folder, version and ABI, one per line.
std::optional<TorchInstall> ReadTorch(std::istream& lines) {
  std::string folder, version, abi;
  if (!std::getline(lines, folder) || !std::getline(lines, version) || !std::getline(lines, abi)) return std::nullopt;
  return TorchInstall{folder, version, abi != "0"};
}

bool Build(const ProbePaths& probes, const TorchInstall& torch, Signals& signals) {
  Say("loopscope: building a probe for torch " + torch.version);
  const auto done = BuildProbe(probes, torch, signals);
  if (!done) Say("loopscope: " + done.error().Message());
  return static_cast<bool>(done);
}

bool SaysYes(const std::string& question) {
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return false;
  Write(stderr, question + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

std::string InterpreterOf(const std::vector<std::string>& command) {
  if (command.empty()) return "";
  const Program program = InspectProgram(command.front());
  if (program.kind != ProgramKind::kPython) return "";
  if (program.path.filename().native().starts_with("python")) return program.path;
  const fs::path first = program.interpreter;
  return first.filename() == "env" ? "python3" : first.native();
}

std::optional<TorchInstall> TorchOf(const std::string& interpreter) {
  std::string quoted;
  for (const char c : interpreter) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string command =
      fmt::format("timeout {} '{}' -c \"$LOOPSCOPE_ASK\" 2>/dev/null </dev/null", kAskTimeoutS, quoted);
  setenv("LOOPSCOPE_ASK", kAsk, 1);
  const std::unique_ptr<FILE, int (*)(FILE*)> answer(popen(command.c_str(), "r"), pclose);
  unsetenv("LOOPSCOPE_ASK");
  std::string text;
  char part[4096];
  while (answer && std::fgets(part, sizeof part, answer.get())) text += part;
  std::istringstream lines(text);
  for (std::string line; line != kAnswerLine;) {
    if (!std::getline(lines, line)) return std::nullopt;
  }
  return ReadTorch(lines);
}

bool SameTorch(const std::string& built, const std::string& running) {
  const auto minor = [](const std::string& version) {
    const std::size_t dot = version.find('.');
    return dot == version.npos ? version : version.substr(0, version.find('.', dot + 1));
  };
  return !built.empty() && minor(built) == minor(running);
}

fs::path ProbeCache(const ProbePaths& probes) {
  const fs::path cache = UserCache();
  const std::vector<fs::path> sources = FilesBelow(SourcesOf(probes));
  if (cache.empty() || sources.empty()) return {};
  return cache / "loopscope" / "probes" / fmt::format("{:016x}", HashOfFiles(sources));
}

fs::path CachedProbe(const fs::path& cache, const TorchInstall& torch) {
  return cache / fmt::format("torch-{}-abi{}", torch.version, torch.cxx11_abi ? 1 : 0) / kProbeName;
}

bool HasProbe(const ProbePaths& probes, const TorchInstall& torch) {
  std::string built;
  std::ifstream(probes.preload.parent_path() / "torch_version") >> built;
  std::error_code error;
  if (SameTorch(built, torch.version)) return true;
  if (torch.cxx11_abi && fs::exists(TorchProbeBeside(probes, torch.version), error)) return true;
  const fs::path cache = ProbeCache(probes);
  return !cache.empty() && fs::exists(CachedProbe(cache, torch), error);
}

Result<void> BuildProbe(const ProbePaths& probes, const TorchInstall& torch, Signals& signals) {
  const fs::path cache = ProbeCache(probes);
  if (cache.empty()) {
    return Failed(torch, "its sources or a home folder are missing", "keep `sources` beside the probes, and set HOME");
  }
  const std::string compiler = Compiler();
  if (compiler.empty()) return Failed(torch, "there is no C++ compiler", "install one, e.g. g++, or name it in CXX");
  const fs::path made = CachedProbe(cache, torch);
  const Workshop shop(made.parent_path());
  std::error_code error;
  fs::create_directories(made.parent_path(), error);
  fs::copy(SourcesOf(probes), shop.path, fs::copy_options::recursive, error);
  if (error) return Failed(torch, error.message(), "make " + cache.native() + " writable, or set XDG_CACHE_HOME");
  const ProcessEnd end = Compile(shop.path, compiler, torch, signals);
  if (!end.ok()) {
    const std::string said = FileText(shop.path / "compiler.txt");
    fs::rename(shop.path / "compiler.txt", made.parent_path() / kFailedName, error);
    return Failed(torch, fmt::format("{} failed", compiler), LastLines(said, kShownLines));
  }
  fs::remove(made.parent_path() / kFailedName, error);
  fs::rename(shop.path / kProbeName, made, error);
  if (error) return Failed(torch, error.message(), "make " + cache.native() + " writable, or set XDG_CACHE_HOME");
  return {};
}

ProbeOffer OfferProbe(const ProbePaths& probes, const std::vector<std::string>& command, bool yes, Signals& signals) {
  const std::string interpreter = InterpreterOf(command);
  const auto torch = interpreter.empty() ? std::nullopt : TorchOf(interpreter);
  if (!torch) return ProbeOffer::kUnknown;
  if (HasProbe(probes, *torch)) return ProbeOffer::kSettled;
  const std::string lack = fmt::format("there is no probe for torch {} of {}", torch->version, interpreter);
  if (!yes && !SaysYes(fmt::format("loopscope: {}: build one now (about a minute, kept in {})?", lack,
                                   ProbeCache(probes).native()))) {
    Say("loopscope: " + lack + ": its operators will not be seen; --yes builds one (about a minute)");
  } else {
    Build(probes, *torch, signals);
  }
  return ProbeOffer::kSettled;
}

bool BuildMissingProbe(const ProbePaths& probes, const fs::path& run, Signals& signals) {
  std::ifstream lines(run / kWithoutProbeName);
  const auto torch = ReadTorch(lines);
  return torch && Build(probes, *torch, signals);
}

}  // namespace loopscope
