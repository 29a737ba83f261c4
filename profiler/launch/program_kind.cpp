#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "profiler/launch/program.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

fs::path FindInPath(const std::string& word) {
  std::error_code error;
  if (word.find('/') != word.npos) return fs::exists(word, error) ? fs::path(word) : fs::path();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / word;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate, error)) return candidate;
  }
  return {};
}

std::string Head(const fs::path& path, std::size_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string head(size, '\0');
  file.read(head.data(), static_cast<std::streamsize>(size));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return head;
}

// The loader that an ELF file asks for; empty: none, so it is static.
std::string ElfInterpreter(std::string_view head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof header) return "";
  std::memcpy(&header, head.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const std::size_t at = header.e_phoff + i * sizeof part;
    if (at + sizeof part > head.size()) break;
    std::memcpy(&part, head.data() + at, sizeof part);
    if (part.p_type != PT_INTERP || part.p_offset >= head.size()) continue;
    return std::string(head.substr(part.p_offset, std::min<std::size_t>(part.p_filesz, 256)).data());
  }
  return "";
}

bool IsPython(const fs::path& path) {
  return path.filename().native().starts_with("python");
}

Program Script(Program program, std::string_view head) {
  std::istringstream words(std::string(head.substr(2, head.find('\n') - 2)));
  words >> program.interpreter;
  std::string last = program.interpreter;
  if (fs::path(last).filename() == "env") words >> last;
  // A version manager's `python` is a shell script that becomes one.
  program.kind = IsPython(last) || IsPython(program.path) ? ProgramKind::kPython : ProgramKind::kScript;
  return program;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Program InspectProgram(const std::string& word) {
  Program program;
  program.path = FindInPath(word);
  if (program.path.empty()) return program;
  const std::string head = Head(program.path, 64 * 1024);
  if (head.starts_with("#!")) return Script(program, head);
  program.kind = ProgramKind::kForeign;
  if (!head.starts_with(ELFMAG) || head.size() < EI_NIDENT || head[EI_CLASS] != ELFCLASS64) return program;
  program.interpreter = ElfInterpreter(head);
  program.kind = program.interpreter.empty() ? ProgramKind::kStatic : ProgramKind::kDynamic;
  if (IsPython(program.path)) program.kind = ProgramKind::kPython;
  return program;
}

std::vector<std::string> LinkedLibraries(const Program& program) {
  std::vector<std::string> libraries;
  // Only glibc's loader is known to list libraries without running the program.
  if (program.interpreter.find("/ld-linux") == std::string::npos) return libraries;
  const std::string command = "LD_TRACE_LOADED_OBJECTS=1 " + Quoted(fs::absolute(program.path)) + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> listing(popen(command.c_str(), "r"), pclose);
  char line[4096];
  while (listing && std::fgets(line, sizeof line, listing.get())) {
    const std::string_view text = line;
    const std::size_t arrow = text.find("=> ");
    const std::size_t end = text.rfind(" (");
    if (arrow == text.npos) continue;
    libraries.emplace_back(text.substr(arrow + 3, end == text.npos ? text.npos : end - arrow - 3));
  }
  return libraries;
}

std::string WhyNoLibTorch(const Program& program) {
  const std::string path = program.path.native();
  switch (program.kind) {
    case ProgramKind::kMissing:
      return "the program is not there any more";
    case ProgramKind::kPython:
      return "it is a Python program that did not import torch, or that cleared PYTHONPATH before it did (another "
             "`python -I`, `-E` or `-S`; a command inside docker or ssh)";
    case ProgramKind::kStatic:
      return path + " is linked statically: no probe can be loaded into it";
    case ProgramKind::kForeign:
      return path + " is not a 64-bit ELF executable of this machine";
    case ProgramKind::kScript:
      return "it is a script for " + program.interpreter +
             ", and no program that it starts is linked with LibTorch or can be "
             "reached (one inside docker or ssh cannot)";
    case ProgramKind::kDynamic:
      break;
  }
  struct Library {
    static bool IsTorch(const std::string& at) { return at.find("libtorch_cpu.so") != at.npos; }
  };
  const std::vector<std::string> libraries = LinkedLibraries(program);
  if (std::ranges::any_of(libraries, Library::IsTorch)) {
    return path +
           " is linked with LibTorch, but the probe was not loaded: is it set-user-id, or does it clear LD_PRELOAD?";
  }
  return path +
         " is not linked with libtorch_cpu.so, and no program that it starts was seen to load it (a native one that "
         "opens it later with dlopen is not seen, nor one for which LD_PRELOAD and PYTHONPATH are both set anew)";
}

}  // namespace loopscope
