// The data set: real JPEG files in a folder, made once by the program itself and the same on every machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "workloads/train_image/settings.h"

namespace loopscope::train::image {

enum class Part { kTrain, kValidation };

class DataSet {
 public:
  // Opens the data set in `folder`, or makes it there when the folder does not exist or is empty. It is made in a
  // folder next to it and renamed, so that an interrupted or concurrent program does not leave half of it. Throws
  // std::runtime_error. Every file is read once, so that the first epoch does not measure the disk, while later ones
  // read from memory.
  static DataSet Open(const std::filesystem::path& folder, const Settings& settings);

  std::size_t size(Part part) const { return part == Part::kTrain ? train_images_ : val_images_; }
  int label(std::size_t index) const;
  std::string path(Part part, std::size_t index) const;

 private:
  void ReadAll() const;

  std::filesystem::path folder_;
  std::size_t train_images_ = 0, val_images_ = 0;
};

// The folder used without --data: ${XDG_CACHE_HOME:-~/.cache}/loopscope/train_image-<parameters>.
std::filesystem::path DefaultFolder(const Settings& settings);

}  // namespace loopscope::train::image
