// The losses of a check launch: the roots of backward, kept on their device and read later, so that reading them does
// not change the run that is checked.
#pragma once

namespace loopscope {

// `roots`: const std::vector<at::Tensor>*, before backward.
void KeepLoss(const void* roots);
void WriteLosses();

}  // namespace loopscope
