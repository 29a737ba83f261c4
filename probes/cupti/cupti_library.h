// CUPTI's functions, found in the library that the program has (or can load): nothing links to CUPTI, so that a program
// without it runs as ever.
#pragma once

#include <cupti.h>

namespace loopscope {

struct Cupti {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver = nullptr;
  decltype(&cuptiActivityEnableAllSyncRecords) enable_all_sync = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
};

// Fills `cupti`: from the library that is loaded already, else from the one that the loader finds. Returns null, or why
// there is none that can be used; the text holds until the next call.
const char* LoadCupti(Cupti& cupti) noexcept;

// What to do about an error, after a blank; "" where there is no advice.
const char* CuptiAdvice(CUptiResult result) noexcept;
// "CUPTI_ERROR_NOT_INITIALIZED" and the like.
const char* CuptiText(const Cupti& cupti, CUptiResult result) noexcept;

}  // namespace loopscope
