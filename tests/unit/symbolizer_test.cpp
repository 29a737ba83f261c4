#include "profiler/importers/capture/symbolizer.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/importers/capture/library_functions.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A library with an inlined call, made on the spot: `flags` decide how much of it can be named.
class Library {
 public:
  explicit Library(const std::string& name, const std::string& flags, const std::string& compiler = "c++")
      : folder_(testing::TempDir() + "symbolizer_" + name) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/train.cpp")
        << "using Callback = void (*)();\n"
           "namespace app {\n"
           "static inline __attribute__((always_inline)) void Inner(Callback call) {\n"
           "  call();\n"  // line 4
           "  asm volatile(\"\");\n"
           "}\n"
           "struct Loop {\n"
           "  __attribute__((noinline)) void Step(Callback call) {\n"
           "    Inner(call);\n"  // line 9
           "    asm volatile(\"\");\n"
           "  }\n"
           "};\n"
           "}\n"
           "extern \"C\" void Train(app::Loop& loop, void (*call)()) {\n"
           "  loop.Step(call);\n"  // line 15
           "  asm volatile(\"\");\n"
           "}\n";
    path_ = folder_ + "/" + name + ".so";
    const std::string command = "cd " + folder_ + " && " + compiler + " -std=c++17 -O2 -fPIC -shared " + flags +
                                " -o " + path_ + " " + folder_ + "/train.cpp";
    built_ = std::system(command.c_str()) == 0;
  }
  ~Library() { std::filesystem::remove_all(folder_); }

  bool built() const { return built_; }
  const std::string& path() const { return path_; }
  std::string source() const { return folder_ + "/train.cpp"; }

 private:
  std::string folder_, path_;
  bool built_ = false;
};

std::vector<std::uint64_t> taken;

void TakeStack() {
  void* frames[16];
  const int count = backtrace(frames, 16);
  for (int i = 0; i < count; ++i) taken.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
}

std::vector<ModuleMapping> MappedModules() {
  std::vector<ModuleMapping> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
          const std::string path =
              info->dlpi_name[0] ? info->dlpi_name : std::filesystem::read_symlink("/proc/self/exe").string();
          static_cast<std::vector<ModuleMapping>*>(all)->push_back({path, begin, begin + part.p_memsz, part.p_offset});
        }
        return 0;
      },
      &modules);
  return modules;
}

// The user's frames of a call through the library, without those of this test itself.
std::vector<Where> FramesIn(const Library& library) {
  void* handle = dlopen(library.path().c_str(), RTLD_NOW);
  if (!handle) return {};
  taken.clear();
  reinterpret_cast<void (*)(void*, void (*)())>(dlsym(handle, "Train"))(nullptr, TakeStack);
  std::vector<ModuleMapping> modules = MappedModules();
  std::erase_if(modules, [&](const ModuleMapping& one) { return one.path != library.path(); });
  std::vector<Where> frames;
  for (const auto& at : Symbolize(modules, taken).frames) frames.insert(frames.end(), at.begin(), at.end());
  dlclose(handle);
  return frames;
}

TEST(Symbolizer, NamesLinesAndInlinedCalls) {
  // -g1 leaves out the namespaces of what has no symbol of its own.
  for (const auto& [flags, inner] : {std::pair<std::string, std::string>{"-g", "app::Inner"}, {"-g1", "Inner"}}) {
    const Library library("lines" + flags, flags);
    ASSERT_TRUE(library.built());
    EXPECT_THAT(FramesIn(library),
                ElementsAre(Where{library.source(), 4, inner}, Where{library.source(), 9, "app::Loop::Step"},
                            Where{library.source(), 15, "Train"}))
        << flags;
  }
}

// It writes no table of addresses, and makes other entries of the same code.
TEST(Symbolizer, NamesLinesThatClangCompiled) {
  for (const auto& [flags, inner] : {std::pair<std::string, std::string>{"-g", "app::Inner"}, {"-g1", "Inner"}}) {
    const Library library("clang" + flags, flags, "clang++-16");
    ASSERT_TRUE(library.built());
    EXPECT_THAT(FramesIn(library),
                ElementsAre(Where{library.source(), 4, inner}, Where{library.source(), 9, "app::Loop::Step"},
                            Where{library.source(), 15, "Train"}))
        << flags;
  }
}

TEST(Symbolizer, WithoutLinesTheFunctionAndItsOffset) {
  const Library library("plain", "");
  ASSERT_TRUE(library.built());
  const std::vector<Where> frames = FramesIn(library);
  ASSERT_THAT(frames, SizeIs(2));
  EXPECT_THAT(frames[0].function, testing::StartsWith("app::Loop::Step+0x"));
  EXPECT_THAT(frames[1].function, testing::StartsWith("Train+0x"));
  EXPECT_EQ(frames[0].line, 0);
  EXPECT_EQ(frames[0].path, library.path());
}

TEST(Symbolizer, FilesWithoutLinesAreSaid) {
  for (const auto& [flags, said] : {std::pair{"", 1u}, {"-g1", 0u}}) {
    const Library library(std::string("said") + flags, flags);
    ASSERT_TRUE(library.built());
    void* handle = dlopen(library.path().c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr);
    const auto train = reinterpret_cast<std::uint64_t>(dlsym(handle, "Train"));
    EXPECT_THAT(Symbolize(MappedModules(), std::vector{train + 1}).without_lines, SizeIs(said)) << flags;
    dlclose(handle);
  }
}

TEST(Symbolizer, FilesThatAreGoneAreSaidOnce) {
  const std::vector<ModuleMapping> modules{{"/no/such/train", 0x1000, 0x2000, 0}};
  const std::vector<std::uint64_t> addresses{0x1100, 0x1200, 0x9000, 0};
  const Symbolized result = Symbolize(modules, addresses);
  ASSERT_THAT(result.frames, SizeIs(4));
  for (const auto& frames : result.frames) EXPECT_THAT(frames, IsEmpty());
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("/no/such/train")));
}

TEST(LibraryFunctions, AreNamedByTheLibrarysSymbols) {
  const std::vector<ModuleMapping> modules = MappedModules();
  LibraryFunctions functions(modules);
  // The library's own symbol: sanitizers put theirs before it.
  const auto fflush_at = reinterpret_cast<std::uint64_t>(dlsym(dlopen("libc.so.6", RTLD_LAZY), "fflush"));
  EXPECT_THAT(functions.At(fflush_at + 5), HasSubstr("fflush"));
  EXPECT_NE(functions.At(fflush_at), functions.At(fflush_at + 5)) << "a call before it is another function's";
  EXPECT_EQ(functions.At(reinterpret_cast<std::uint64_t>(&TakeStack) + 5), "") << "code of the user's own";
  EXPECT_EQ(functions.At(0), "");
  EXPECT_EQ(functions.At(0x10), "");
}

TEST(LibraryFunctions, AFileThatIsGoneOrNoProgramNamesNothing) {
  const std::string path = testing::TempDir() + "libtorch_text.so";
  std::ofstream(path) << "not a program";
  const std::vector<ModuleMapping> modules{{path, 0x1000, 0x2000, 0}, {"/lib/no_such.so", 0x3000, 0x4000, 0}};
  LibraryFunctions functions(modules);
  EXPECT_EQ(functions.At(0x1100), "");
  EXPECT_EQ(functions.At(0x3100), "");
}

TEST(Symbolizer, AFileThatIsNoProgramNamesNothing) {
  const std::string path = testing::TempDir() + "symbolizer_text";
  std::ofstream(path) << "not a program";
  const std::vector<ModuleMapping> modules{{path, 0x1000, 0x2000, 0}};
  const std::vector<std::uint64_t> addresses{0x1100};
  EXPECT_THAT(Symbolize(modules, addresses).frames[0], IsEmpty());
  std::filesystem::remove(path);
}

TEST(Symbolizer, APipeIsNotWaitedFor) {
  const std::string path = testing::TempDir() + "symbolizer_pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::vector<ModuleMapping> modules{{path, 0x1000, 0x2000, 0}};
  const std::vector<std::uint64_t> addresses{0x1100};
  EXPECT_THAT(Symbolize(modules, addresses).frames[0], IsEmpty());
  std::filesystem::remove(path);
}

TEST(Symbolizer, LibrariesAreNotTheUsers) {
  EXPECT_TRUE(IsUserModule("/home/ann/build/train_image"));
  EXPECT_TRUE(IsUserModule("/home/ann/libmodel.so"));
  for (const char* path :
       {"/v/torch/lib/libtorch_cpu.so", "/opt/x/libc10.so", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62",
        "/lib/x86_64-linux-gnu/libc.so.6", "/b/probes/libloopscope_preload.so", "[vdso]", ""}) {
    EXPECT_FALSE(IsUserModule(path)) << path;
  }
  EXPECT_TRUE(IsUserSource("/home/ann/train.cpp"));
  EXPECT_FALSE(IsUserSource("/v/torch/include/torch/csrc/api/include/torch/nn/module.h"));
  EXPECT_FALSE(IsUserSource("/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_FALSE(IsUserSource(""));
}

TEST(Symbolizer, NamesLoseTheirParametersAndReturnTypes) {
  EXPECT_EQ(WithoutParameters("main"), "main");
  EXPECT_EQ(WithoutParameters("app::Loop::Step(void (*)())"), "app::Loop::Step");
  EXPECT_EQ(WithoutParameters("app::Net::forward(at::Tensor const&) const"), "app::Net::forward");
  EXPECT_EQ(WithoutParameters("(anonymous namespace)::Train(int)"), "(anonymous namespace)::Train");
  EXPECT_EQ(WithoutParameters("void app::Run<std::vector<int, std::allocator<int> > >(int)"),
            "app::Run<std::vector<int, std::allocator<int> > >");
  EXPECT_EQ(WithoutParameters("app::Net::operator()(int)"), "app::Net::operator()");
  EXPECT_EQ(WithoutParameters("Train(int) [clone .cold]"), "Train");
}

TEST(Symbolizer, TextFrames) {
  EXPECT_EQ(WhereOfText("/home/a:b/t.py:12:step"), (Where{"/home/a:b/t.py", 12, "step"}));
  EXPECT_EQ(WhereOfText("t.py:x:step"), (Where{"t.py", 0, "step"}));
  EXPECT_EQ(WhereOfText("nothing"), (Where{"nothing", 0, ""}));
  EXPECT_EQ(WhereOfText(":"), (Where{":", 0, ""}));
  EXPECT_EQ(WhereOfText(""), (Where{"", 0, ""}));
}

}  // namespace
}  // namespace loopscope
