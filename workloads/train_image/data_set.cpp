#include "workloads/train_image/data_set.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "workloads/common/random.h"
#include "workloads/train_image/pictures.h"

namespace loopscope::train::image {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "data_set.txt";  // written last; says what the folder holds
constexpr int kFormat = 2;                  // version of the pictures: raise it when they change
constexpr int kQuality = 90;                // of the JPEG files

// Validation images are stored near the network's size, as they are not cropped at random.
int ValidationEdge(const Settings& settings) {
  return settings.image_size + settings.image_size / 8;
}

std::string Parameters(const Settings& settings) {
  return fmt::format("v{}-{}x{}-{}x{}", kFormat, settings.train_images, settings.source_size, settings.val_images,
                     ValidationEdge(settings));
}

std::string Relative(Part part, std::size_t index) {
  return fmt::format("{}/{}/{:06}.jpg", part == Part::kTrain ? "train" : "val", index % kClasses, index);
}

std::string ReadMarker(const fs::path& folder) {
  std::ifstream file(folder / kMarker);
  std::string text;
  std::getline(file, text);
  return text;
}

void DrawPart(const fs::path& folder, Part part, int images, int edge) {
  for (int label = 0; label < kClasses; ++label) {
    fs::create_directories((folder / Relative(part, static_cast<std::size_t>(label))).parent_path());
  }
  for (int index = 0; index < images; ++index) {
    const std::uint64_t key = Hash(kFormat, static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(index));
    WriteJpeg((folder / Relative(part, static_cast<std::size_t>(index))).string(), Draw(index % kClasses, edge, key),
              kQuality);
  }
}

void Fill(const fs::path& folder, const Settings& settings) {
  DrawPart(folder, Part::kTrain, settings.train_images, settings.source_size);
  DrawPart(folder, Part::kValidation, settings.val_images, ValidationEdge(settings));
  std::ofstream marker(folder / kMarker);
  marker << Parameters(settings) << '\n';
  marker.close();
  if (!marker) throw std::runtime_error(fmt::format("cannot write {}", (folder / kMarker).string()));
}

void Make(const fs::path& folder, const Settings& settings) {
  fmt::print("making {} images in {}\n", settings.train_images + settings.val_images, folder.string());
  std::fflush(stdout);
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path());
  std::string name = folder.string() + ".making-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  const fs::path making(name);
  try {
    fs::permissions(making, static_cast<fs::perms>(0755));
    Fill(making, settings);
    std::error_code taken;  // another program may have been first
    fs::rename(making, folder, taken);
    if (taken && !fs::exists(folder)) throw fs::filesystem_error("cannot make the data set", folder, taken);
    if (taken) fs::remove_all(making);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(making, ignored);
    throw;
  }
}

}  // namespace

DataSet DataSet::Open(const fs::path& given, const Settings& settings) {
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  if (!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder))) Make(folder, settings);
  const std::string found = ReadMarker(folder);
  if (found.empty()) {
    throw std::runtime_error(
        fmt::format("{} holds no data set of train_image: name a folder that is new or empty", folder.string()));
  }
  if (found != Parameters(settings)) {
    throw std::runtime_error(fmt::format("{} holds the data set {}, but {} is asked for: name another folder",
                                         folder.string(), found, Parameters(settings)));
  }
  DataSet data;
  data.folder_ = folder;
  data.train_images_ = static_cast<std::size_t>(settings.train_images);
  data.val_images_ = static_cast<std::size_t>(settings.val_images);
  data.ReadAll();
  return data;
}

// What is missing or unreadable is reported when a batch needs it.
void DataSet::ReadAll() const {
  std::vector<char> buffer(1 << 16);
  for (const Part part : {Part::kTrain, Part::kValidation}) {
    for (std::size_t index = 0; index < size(part); ++index) {
      std::ifstream file(path(part, index), std::ios::binary);
      while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
      }
    }
  }
}

int DataSet::label(std::size_t index) const {
  return static_cast<int>(index % kClasses);
}

std::string DataSet::path(Part part, std::size_t index) const {
  return (folder_ / Relative(part, index)).string();
}

fs::path DefaultFolder(const Settings& settings) {
  const auto text = [](const char* variable) { return std::string(variable != nullptr ? variable : ""); };
  const std::string cache = text(std::getenv("XDG_CACHE_HOME")), home = text(std::getenv("HOME"));
  const fs::path root = !cache.empty() ? fs::path(cache) : fs::path(home.empty() ? "/tmp" : home) / ".cache";
  return root / "loopscope" / ("train_image-" + Parameters(settings));
}

}  // namespace loopscope::train::image
