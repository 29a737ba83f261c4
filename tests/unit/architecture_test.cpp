// The structure that README and CONTRIBUTING promise, read from the sources: includes point one way, lists and files
// agree, files stay short.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probes/facts.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

const fs::path& Root() {
  static const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path();
  return root;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Relative to the root, sorted. Empty for a missing folder.
std::vector<std::string> FilesIn(const std::string& folder, const std::set<std::string>& extensions,
                                 bool recursive = true) {
  std::vector<std::string> files;
  if (!fs::is_directory(Root() / folder)) return files;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file() && extensions.contains(entry.path().extension())) {
      files.push_back(fs::relative(entry.path(), Root()).generic_string());
    }
  };
  if (recursive) {
    for (const auto& entry : fs::recursive_directory_iterator(Root() / folder)) add(entry);
  } else {
    for (const auto& entry : fs::directory_iterator(Root() / folder)) add(entry);
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> SourcesIn(const std::string& folder) {
  return FilesIn(folder, {".h", ".cpp"});
}

struct Direction {
  std::string_view folder;
  std::vector<std::string_view> may_include;  // prefixes; its own files always
  bool torch = false;                         // may it include torch's or CUDA's headers?
};

// Each folder that is a library of its own (the rooms of cmake/Rooms.cmake); the first match applies. "a/" matches all
// below it, "a/*" the files of that very folder.
const std::vector<Direction>& Directions() {
  static const std::vector<Direction> directions = {
      {"probes/torch/", {"probes/"}, true},
      {"probes/torch_cuda/", {"probes/"}, true},
      {"probes/nvtx/", {"probes/"}, true},
      {"probes/cupti/", {"probes/"}, true},
      {"probes/", {}},

      {"profiler/core/statistics/", {}},
      {"profiler/core/trace/", {"profiler/core/statistics/", "probes/wire.h", "probes/facts.h", "probes/facts.def"}},
      {"profiler/core/steps/", {"profiler/core/statistics/", "profiler/core/trace/"}},
      {"profiler/core/graph/", {"profiler/core/statistics/", "profiler/core/trace/"}},
      {"profiler/core/devices/", {"profiler/core/statistics/", "profiler/core/trace/"}},
      {"profiler/core/timeline/",
       {"profiler/core/statistics/", "profiler/core/trace/", "profiler/core/steps/", "profiler/core/devices/",
        "profiler/core/result.h", "profiler/core/parallel.h"}},
      {"profiler/core/report/",
       {"profiler/core/statistics/", "profiler/core/trace/", "profiler/core/steps/", "profiler/core/graph/",
        "profiler/core/devices/", "profiler/core/timeline/", "profiler/core/result.h"}},
      {"profiler/core/", {"probes/wire.h"}},

      {"profiler/importers/json/", {"profiler/core/"}},
      {"profiler/importers/shared/", {"profiler/core/"}},
      {"profiler/importers/capture/",
       {"profiler/core/", "profiler/importers/shared/", "probes/wire.h", "probes/capture/crc32c.h"}},
      {"profiler/importers/kineto/", {"profiler/core/", "profiler/importers/shared/", "profiler/importers/json/"}},
      {"profiler/importers/nsys/", {"profiler/core/", "profiler/importers/shared/"}},
      {"profiler/importers/flight/", {"profiler/core/", "profiler/importers/shared/"}},
      {"profiler/importers/", {"profiler/core/"}},
      {"profiler/treatments/", {"profiler/core/"}},

      {"analyzers/shared/", {"profiler/core/"}},
      {"analyzers/gradients/", {"profiler/core/", "analyzers/shared/"}},
      {"analyzers/forms/", {"profiler/core/", "analyzers/shared/"}},
      {"analyzers/diagnose/", {"profiler/core/", "analyzers/shared/", "analyzers/forms/", "analyzers/*"}},
      {"analyzers/ranks/", {"profiler/core/", "analyzers/shared/", "analyzers/diagnose/"}},
      {"analyzers/", {"profiler/core/", "analyzers/shared/", "analyzers/gradients/", "analyzers/forms/"}},

      {"reports/words/", {"profiler/core/"}},
      {"reports/text/", {"profiler/core/", "reports/words/"}},
      {"reports/json/", {"profiler/core/", "reports/words/"}},
      {"reports/html/", {"profiler/core/", "reports/words/", "reports/json/"}},
      {"reports/parquet/", {"profiler/core/", "reports/words/"}},
      {"reports/", {"profiler/core/"}},

      {"profiler/system/", {"profiler/core/"}},
      {"profiler/containment/", {"profiler/core/", "profiler/system/"}},
      {"profiler/launch/",
       {"profiler/core/", "profiler/system/", "profiler/containment/", "profiler/importers/", "profiler/treatments/",
        "probes/environment.h", "probes/preload_fit.h"}},
      {"profiler/experiments/prove/", {"profiler/core/", "profiler/treatments/", "profiler/experiments/*"}},
      {"profiler/experiments/sweep/", {"profiler/core/", "profiler/treatments/", "profiler/experiments/*"}},
      {"profiler/experiments/target/", {"profiler/core/", "profiler/treatments/", "profiler/experiments/*"}},
      {"profiler/experiments/gate/", {"profiler/core/", "profiler/treatments/", "profiler/experiments/*"}},
      {"profiler/experiments/", {"profiler/core/", "profiler/treatments/", "probes/wire.h"}},
      {"profiler/diagnosis/",
       {"profiler/core/", "profiler/importers/", "profiler/treatments/", "analyzers/", "reports/"}},
      {"profiler/cli/", {"profiler/core/", "profiler/system/", "profiler/experiments/*", "reports/"}},
      {"profiler/commands/", {"profiler/", "analyzers/", "reports/"}},
      {"profiler/main.cpp", {"profiler/"}},

      {"workloads/", {"probes/loopscope.h", "probes/environment.h"}, true},
  };
  return directions;
}

// Whether the file matches `prefix`.
bool Fits(std::string_view file, std::string_view prefix) {
  if (!prefix.ends_with("/*")) return file.starts_with(prefix);
  prefix.remove_suffix(1);
  return file.starts_with(prefix) && file.find('/', prefix.size()) == file.npos;
}

const Direction* DirectionOf(std::string_view file) {
  const auto found =
      std::ranges::find_if(Directions(), [&](const Direction& one) { return file.starts_with(one.folder); });
  return found == Directions().end() ? nullptr : &*found;
}

bool IsTorchOrCuda(std::string_view header) {
  static const std::vector<std::string_view> prefixes = {"torch/", "ATen/", "c10/", "cuda", "cupti", "nccl", "nvtx3/"};
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return header.starts_with(prefix); });
}

// Is this include line's target ours, by its first folder, or a file beside the one that includes it?
bool IsOurs(const std::string& header) {
  static const std::set<std::string> folders = {"probes", "profiler", "analyzers", "reports", "workloads", "tests"};
  return folders.contains(fs::path(header).begin()->string());
}

bool MayInclude(const std::string& file, const std::string& header) {
  const Direction* direction = DirectionOf(file);
  if (direction == nullptr) return false;
  if (!IsOurs(header)) return direction->torch || !IsTorchOrCuda(header);
  if (header.starts_with(direction->folder)) return true;
  return std::ranges::any_of(direction->may_include, [&](std::string_view one) { return Fits(header, one); });
}

std::vector<std::string> IncludesOf(const std::string& text) {
  static const std::regex include(R"rx(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"])rx", std::regex::multiline);
  std::vector<std::string> headers;
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    headers.push_back((*match)[1]);
  }
  return headers;
}

// A file as a part of the graph of includes: without its extension, so that X.h and X.cpp are one.
std::string PartOf(const std::string& file) {
  return fs::path(file).replace_extension().generic_string();
}

using Graph = std::map<std::string, std::set<std::string>>;

// How the files that `takes` accepts include each other.
Graph IncludeGraph(bool (*takes)(const std::string& file)) {
  Graph graph;
  for (const char* folder : {"probes", "profiler", "analyzers", "reports", "workloads"}) {
    for (const std::string& file : SourcesIn(folder)) {
      if (!takes(file)) continue;
      for (const std::string& header : IncludesOf(Read(Root() / file))) {
        if (IsOurs(header) && PartOf(header) != PartOf(file)) graph[PartOf(file)].insert(PartOf(header));
      }
    }
  }
  return graph;
}

// A way from `part` back to itself, "" when there is none: "a > b > a".
std::string CycleThrough(const Graph& graph, const std::string& part) {
  std::map<std::string, std::string> came_from{{part, ""}};
  std::vector<std::string> next{part};
  while (!next.empty()) {
    const std::string one = next.back();
    next.pop_back();
    const auto found = graph.find(one);
    if (found == graph.end()) continue;
    for (const std::string& included : found->second) {
      if (included == part) {
        std::string way = part;
        for (std::string at = one; at != part; at = came_from.at(at)) way = at + " > " + way;
        return part + " > " + way;
      }
      if (came_from.emplace(included, one).second) next.push_back(included);
    }
  }
  return "";
}

struct Seam {
  std::string folder, list, type;
};

const std::vector<Seam>& Seams() {
  static const std::vector<Seam> seams = {{"analyzers", "analyzers.def", "Analyzer"},
                                          {"profiler/importers", "importers.def", "Importer"},
                                          {"profiler/treatments", "treatments.def", "Treatment"},
                                          {"reports", "formats.def", "Format"},
                                          {"analyzers/ranks", "ranks.def", "RankAnalyzer"}};
  return seams;
}

// File stem → constant, and the stems in the order of the list.
struct Listed {
  std::map<std::string, std::string> constants;
  std::vector<std::string> stems;
};

Listed ListOf(const Seam& seam) {
  static const std::regex row(R"(^LOOPSCOPE_[A-Z]+\(([a-z0-9_]+), *(k[A-Za-z0-9]+)\))", std::regex::multiline);
  const std::string text = Read(Root() / seam.folder / seam.list);
  Listed listed;
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
    listed.constants[(*match)[1]] = (*match)[2];
    listed.stems.push_back((*match)[1]);
  }
  return listed;
}

// The constants of the seam's type that a file defines.
std::set<std::string> DefinedConstants(const std::string& text, const std::string& type) {
  const std::regex definition("^(?:extern )?const " + type + R"( (k\w+)\s*(?:=|\{))", std::regex::multiline);
  std::set<std::string> constants;
  for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end; ++match) {
    constants.insert((*match)[1]);
  }
  return constants;
}

bool AnyFileHas(const std::string& folder, const std::string& text) {
  return std::ranges::any_of(
      SourcesIn(folder), [&](const std::string& file) { return Read(Root() / file).find(text) != std::string::npos; });
}

// "" when what the row names is there, else what is missing.
std::string MissingApplier(const Treatment& treatment, const std::string& stem, const std::string& applier) {
  const std::string quoted = "\"" + std::string(treatment.id) + "\"";
  const auto file = [](const std::string& path) { return fs::exists(Root() / path) ? "" : path; };
  if (applier == "torch") return file("probes/torch/treatments/" + stem + ".cpp");
  if (applier == "python") return file("probes/python/treatments/" + stem + ".py");
  if (applier == "environment") return treatment.environment.empty() ? "a variable of the environment" : "";
  if (applier.starts_with("knob:")) {
    const std::string folder = "workloads/" + applier.substr(5);
    return AnyFileHas(folder, quoted) || AnyFileHas("workloads/common", quoted) ? "" : quoted + " in " + folder;
  }
  return "a meaning for the applier \"" + applier + "\"";
}

TEST(Includes, TheRulesTellRightFromWrong) {
  EXPECT_TRUE(MayInclude("reports/text.cpp", "profiler/core/report/report.h"));
  EXPECT_FALSE(MayInclude("reports/text.cpp", "profiler/commands/prove.h"));
  EXPECT_FALSE(MayInclude("analyzers/host_sync.cpp", "reports/words/units.h"));
  EXPECT_FALSE(MayInclude("profiler/core/trace/trace.h", "analyzers/analyzers.h"));
  EXPECT_FALSE(MayInclude("profiler/core/trace/trace.h", "ATen/record_function.h"));
  EXPECT_FALSE(MayInclude("workloads/train_image/main.cpp", "profiler/core/report/report.h"));
  EXPECT_FALSE(MayInclude("probes/torch/ops.cpp", "profiler/core/trace/trace.h"));
  EXPECT_TRUE(MayInclude("probes/torch/ops.cpp", "ATen/record_function.h"));
  EXPECT_FALSE(MayInclude("probes/preload/preload.cpp", "ATen/record_function.h"));
  EXPECT_EQ(IncludesOf("#include <a>\n  # include \"b/c.h\"\n// #include <d>\n"),
            (std::vector<std::string>{"a", "b/c.h"}));
}

TEST(Includes, PointOneWay) {
  int checked = 0;
  for (const char* folder : {"probes", "profiler", "analyzers", "reports", "workloads"}) {
    for (const std::string& file : SourcesIn(folder)) {
      for (const std::string& header : IncludesOf(Read(Root() / file))) {
        ++checked;
        EXPECT_TRUE(MayInclude(file, header)) << file << " must not include " << header;
      }
    }
  }
  EXPECT_GT(checked, 200);
}

TEST(Includes, ACycleIsFound) {
  EXPECT_EQ(CycleThrough({{"a", {"b", "c"}}, {"b", {"c"}}}, "a"), "");
  EXPECT_EQ(CycleThrough({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}, "a"), "a > b > c > a");
}

TEST(Includes, GoInNoCircle) {
  // The probes' sources call each other back, as parts of one state of the process: there headers alone are held to it.
  const Graph graph =
      IncludeGraph([](const std::string& file) { return !file.starts_with("probes/") || file.ends_with(".h"); });
  EXPECT_GT(graph.size(), 300u);
  for (const auto& [part, included] : graph) EXPECT_EQ(CycleThrough(graph, part), "");
}

// Sources that implement no header, and why.
bool NeedsNoHeader(const std::string& file) {
  static const std::map<std::string_view, std::string_view> reasons = {
      {"probes/cupti/injection.cpp", "entry points by name"},
      {"probes/nccl/plugin.cpp", "entry points by name"},
      {"probes/nvtx/injection.cpp", "entry points by name"},
      {"probes/preload/entry_points.cpp", "entry points by name"},
      {"probes/preload/interpose.cpp", "functions of LibTorch that it stands in for"},
      {"probes/preload/output.cpp", "functions of the C library that it stands in for"},
      {"probes/preload/process/exec.cpp", "functions of the C library that it stands in for"},
      {"probes/torch/attach.cpp", "entry points by name"},
      {"probes/torch/seed.cpp", "entry points by name"},
      {"probes/torch_cuda/attach.cpp", "entry points by name"},
      {"profiler/main.cpp", "main()"},
      {"workloads/cuda_modules/cuda_graph.cpp", "entry points of a module"},
      {"workloads/cuda_modules/data_parallel.cpp", "entry points of a module"},
      {"workloads/cuda_modules/nccl.cpp", "entry points of a module"},
      {"workloads/train_image/main.cpp", "main()"},
      {"workloads/train_text/main.cpp", "main()"},
  };
  // Each of these has constants that a list names.
  static const std::vector<std::string_view> lists = {"analyzers/*",
                                                      "analyzers/ranks/*",
                                                      "profiler/commands/*",
                                                      "profiler/importers/*",
                                                      "profiler/treatments/*",
                                                      "probes/torch/treatments/*",
                                                      "reports/*"};
  if (reasons.contains(file)) return true;
  return std::ranges::any_of(lists, [&](std::string_view list) { return Fits(file, list); }) &&
         Read(Root() / file).find("\nextern const ") != std::string::npos;
}

// A longer stem counts too: timeline_build_loader.cpp implements a part of timeline_build.h.
bool HasHeader(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  std::string stem = fs::path(file).stem();
  while (!fs::exists(Root() / folder / (stem + ".h"))) {
    const std::size_t cut = stem.rfind('_');
    if (cut == stem.npos) return false;
    stem.resize(cut);
  }
  return true;
}

TEST(Sources, ImplementTheHeaderOfTheirName) {
  for (const char* folder : {"probes", "profiler", "analyzers", "reports", "workloads"}) {
    for (const std::string& file : FilesIn(folder, {".cpp"})) {
      EXPECT_TRUE(HasHeader(file) || NeedsNoHeader(file))
          << file << " declares what it defines in another file's header";
    }
  }
}

TEST(Seams, ListsAndFilesAgree) {
  for (const Seam& seam : Seams()) {
    const Listed listed = ListOf(seam);
    EXPECT_FALSE(listed.stems.empty()) << seam.folder << "/" << seam.list;
    EXPECT_EQ(listed.stems.size(), listed.constants.size()) << "twice in " << seam.list;
    std::set<std::string> defined, named;
    for (const auto& [stem, constant] : listed.constants) named.insert(constant);
    for (const std::string& file : FilesIn(seam.folder, {".cpp"}, false)) {
      const std::set<std::string> constants = DefinedConstants(Read(Root() / file), seam.type);
      defined.insert(constants.begin(), constants.end());
      if (constants.empty() || seam.type == "Treatment") continue;  // those stand together by family
      const auto own = listed.constants.find(fs::path(file).stem());
      EXPECT_TRUE(own != listed.constants.end() && constants == std::set<std::string>{own->second}) << file;
    }
    EXPECT_EQ(defined, named) << "files in " << seam.folder << " (first) against " << seam.list;
  }
}

// The profiler links them all: with two of one name the linker would silently keep either.
TEST(Seams, NoTwoConstantsShareAName) {
  std::map<std::string, std::string> folder_of;
  for (const Seam& seam : Seams()) {
    for (const auto& [stem, constant] : ListOf(seam).constants) {
      const auto [other, is_new] = folder_of.emplace(constant, seam.folder);
      EXPECT_TRUE(is_new) << constant << " is in " << other->second << " and in " << seam.folder;
    }
  }
  EXPECT_GT(folder_of.size(), 40u);
}

TEST(Treatments, EveryApplierThatARowNamesIsThere) {
  const std::vector<std::string> stems = ListOf(Seams()[2]).stems;
  ASSERT_EQ(stems.size(), AllTreatments().size());
  for (std::size_t row = 0; row < stems.size(); ++row) {
    const Treatment& treatment = *AllTreatments()[row];
    if (treatment.appliers.empty()) {
      EXPECT_TRUE(treatment.ValuesFor({}, Host{}).empty()) << treatment.id << " is offered, and nobody can apply it";
    }
    for (const std::string_view applier : treatment.appliers) {
      EXPECT_EQ(MissingApplier(treatment, stems[row], std::string(applier)), "") << treatment.id;
    }
  }
}

// Whether something can switch the treatment between steps.
bool CanSwitch(const Treatment& treatment, const std::string& stem, const std::string& applier) {
  const std::string quoted = "\"" + std::string(treatment.id) + "\"";
  const auto text = [](const std::string& path) { return Read(Root() / path); };
  if (applier == "python")
    return text("probes/python/treatments/" + stem + ".py").find("\nREVERSIBLE = True\n") != std::string::npos;
  // A flag always can; an applier that acts at certain moments must count its acts.
  if (applier == "torch")
    return text("probes/torch/treatments/" + stem + ".cpp").find(", At, nullptr}") == std::string::npos;
  if (!applier.starts_with("knob:")) return false;
  return text("workloads/common/training.cpp").find(quoted) != std::string::npos;
}

TEST(Treatments, WhatIsOfferedForLivePairsCanBeSwitched) {
  const std::vector<std::string> stems = ListOf(Seams()[2]).stems;
  for (std::size_t row = 0; row < stems.size(); ++row) {
    const Treatment& treatment = *AllTreatments()[row];
    if (!treatment.live) continue;
    const auto switches = [&](std::string_view applier) {
      return CanSwitch(treatment, stems[row], std::string(applier));
    };
    EXPECT_TRUE(std::ranges::any_of(treatment.appliers, switches)) << treatment.id;
  }
}

TEST(Treatments, EveryApplierHasARowThatNamesIt) {
  std::map<std::string, std::set<std::string>> stems_by_applier;
  const std::vector<std::string> stems = ListOf(Seams()[2]).stems;
  ASSERT_EQ(stems.size(), AllTreatments().size());
  for (std::size_t row = 0; row < stems.size(); ++row) {
    for (const std::string_view applier : AllTreatments()[row]->appliers) {
      stems_by_applier[std::string(applier)].insert(stems[row]);
    }
    // Settings from the environment are read back there.
    if (!AllTreatments()[row]->environment.empty()) stems_by_applier["torch"].insert(stems[row]);
  }
  for (const char* applier : {"torch", "python"}) {
    for (const std::string& file : FilesIn(std::string("probes/") + applier + "/treatments", {".cpp", ".py"})) {
      EXPECT_TRUE(stems_by_applier[applier].contains(fs::path(file).stem())) << file << " is named by no row";
    }
  }
}

TEST(Analyzers, EachHasItsTextBesideIt) {
  for (const Seam& seam : Seams()) {
    if (!seam.folder.starts_with("analyzers")) continue;
    std::set<std::string> listed, texts;
    for (const std::string& stem : ListOf(seam).stems) listed.insert(stem);
    for (const std::string& file : FilesIn(seam.folder, {".md"}, false)) texts.insert(fs::path(file).stem());
    EXPECT_EQ(texts, listed) << seam.folder;
  }
}

// A rule's id outside of its own file is text: only this test detects a misspelling. By its
// whole key, or by one of the parts that form it: "device.{}." and "name", "ddp" and
// "where=".
bool NamesFact(const std::string& file, const std::string& key) {
  const std::string text = Read(Root() / file);
  const auto has = [&](const std::string& piece) { return text.find(piece) != text.npos; };
  const std::size_t dot = key.rfind('.');
  if (has('"' + key)) return true;
  if (dot == key.npos) return false;
  const std::string first = key.substr(0, dot), last = key.substr(dot + 1);
  return has('"' + last + '"') || has('"' + first + '"') || has('"' + first + ".\"") || has(" " + last + "=");
}

TEST(Facts, EachIsWrittenAndRead) {
  for (const facts::Row& row : facts::kRows) {
    for (const std::string_view file : {row.writer, row.reader}) {
      ASSERT_TRUE(fs::exists(Root() / file)) << row.key << ": " << file;
      EXPECT_TRUE(NamesFact(std::string(file), std::string(row.key))) << file << " does not name " << row.key;
    }
  }
}

// Keys read in C++ are checked by the compiler.
TEST(Facts, WhatIsWrittenIsInTheList) {
  static const std::regex written(
      R"re((?:WriteFact|WriteNumber|Switch|api->fact|_probe\.fact|\.facts\[)(?:\(|)(?:text\()?b?"([a-z_.]+)")re");
  int seen = 0;
  for (const char* folder : {"probes", "profiler/importers"}) {
    for (const std::string& file : FilesIn(folder, {".cpp", ".py"})) {
      const std::string text = Read(Root() / file);
      for (std::sregex_iterator match(text.begin(), text.end(), written), end; match != end; ++match, ++seen) {
        const std::string key = (*match)[1];
        const bool known = std::ranges::any_of(facts::kRows, [&](const facts::Row& row) {
          return row.key == key || (key.ends_with('.') && row.key.starts_with(key));
        });
        EXPECT_TRUE(known) << file << " writes " << key << ", which probes/facts.def does not list";
      }
    }
  }
  EXPECT_GT(seen, 20);
}

// What a step is, and which process trains, is decided by StepTable and StepLedger alone. Importers write what they
// decide from; `watch` follows the records of a program that still runs; lines of a loader's workers are known where
// these were followed.
TEST(Steps, OneRoomDecidesTheirKinds) {
  static const std::regex marks(
      R"(MarkKind::k(StepEnd|MeasureBegin|MeasureEnd|Epoch(Start|End)|Detail(Begin|End)|Ops(Begin|End)|Follow(Begin|End)|Switch)\b)");
  static const std::regex kinds(
      R"(\b(step|steps[a-z_()]*\[[^\]]*\])\.(warmup|boundary|evaluates|transient|operators|detail|followed) = )");
  static const std::regex table(R"(\bStep& |StepTable)");
  static const std::set<std::string> others = {"profiler/commands/watch_figures.cpp",
                                               "profiler/core/timeline/line_pieces.cpp"};
  int read = 0;
  for (const char* folder : {"profiler", "analyzers", "reports"}) {
    for (const std::string& file : SourcesIn(folder)) {
      const std::string text = Read(Root() / file);
      if (file.starts_with("profiler/core/steps/")) {
        read += std::regex_search(text, marks);
        continue;
      }
      if (std::regex_search(text, table)) {
        EXPECT_FALSE(std::regex_search(text, kinds)) << file << " decides which kind a step is of";
      }
      if (file.starts_with("profiler/importers/") || others.contains(file)) continue;
      EXPECT_FALSE(std::regex_search(text, marks)) << file << " reads the marks of steps: ask StepTable";
    }
  }
  EXPECT_GT(read, 0);
}

TEST(Analyzers, EveryIdThatCodeNamesIsARule) {
  static const std::regex shape("\"([a-z0-9]+(?:-[a-z0-9]+)+)\"");
  // Names of verdicts and of figures, which look alike.
  static const std::set<std::string> others = {"profiler/core/report/finding.cpp", "profiler/core/report/sweep.cpp",
                                               "profiler/core/report/trial.cpp"};
  std::set<std::string> ids;
  for (const Seam& seam : Seams()) {
    if (!seam.folder.starts_with("analyzers")) continue;
    for (std::string stem : ListOf(seam).stems) {
      std::ranges::replace(stem, '_', '-');
      ids.insert(stem);
    }
  }
  static const std::regex comments("//[^\n]*");
  // No other code depends on a finding's rule: findings state their claims.
  for (const char* folder : {"analyzers/diagnose", "analyzers/shared", "analyzers/gradients", "profiler/core",
                             "profiler/diagnosis", "profiler/experiments", "profiler/commands", "reports"}) {
    for (const std::string& file : FilesIn(folder, {".cpp", ".h"})) {
      const std::string text = std::regex_replace(Read(Root() / file), comments, "");
      for (std::sregex_iterator match(text.begin(), text.end(), shape), end; match != end; ++match) {
        EXPECT_FALSE(ids.contains((*match)[1])) << file << " names the rule " << (*match)[1];
      }
    }
  }
  int named = 0;
  for (const char* folder : {"analyzers", "profiler/core/report", "profiler/diagnosis", "profiler/treatments"}) {
    for (const std::string& file : FilesIn(folder, {".cpp"})) {
      // Forms of operators have names of the same shape.
      if (others.contains(file) || file.starts_with("analyzers/forms/form_")) continue;
      const std::string text = Read(Root() / file);
      for (std::sregex_iterator match(text.begin(), text.end(), shape), end; match != end; ++match, ++named) {
        EXPECT_TRUE(ids.contains((*match)[1])) << file << " names " << (*match)[1] << ", which is no rule";
      }
    }
  }
  EXPECT_GT(named, 100);
}

}  // namespace
}  // namespace loopscope
