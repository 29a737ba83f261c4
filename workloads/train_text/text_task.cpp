#include "workloads/train_text/text_task.h"

#include "workloads/common/loader_options.h"

namespace loopscope::train::text {

TextTask::TextTask(const Settings& settings)
    : settings_(settings),
      train_batches_(Texts(Part::kTrain, settings), settings),
      train_(MakeTextLoader(train_batches_, settings, epoch_)),
      validation_(MakeValidationLoader(TextBatches(Texts(Part::kValidation, settings), settings), settings)),
      model_(settings) {}

void TextTask::StartEpoch(int epoch) {
  train_pass_.reset(), validation_pass_.reset();
  *epoch_ = epoch;
  if (!settings_.persistent && epoch > 1) train_ = MakeTextLoader(train_batches_, settings_, epoch_);
  train_pass_.emplace(*train_);
}

void TextTask::StartEvaluation() {
  train_pass_.reset();
  validation_pass_.emplace(*validation_);
}

std::optional<Batch> TextTask::Next() {
  return train_pass_ ? train_pass_->Next() : validation_pass_->Next();
}

InEffect TextTask::ReadBack() const {
  return ReadLoaderBack(train_->options());
}

}  // namespace loopscope::train::text
