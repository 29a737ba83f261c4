// CUPTI's functions, found in the library that the program has (or can load): nothing links to CUPTI, so that programs
// without it run as usual. Supports CUDA 12.4 to 13.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace loopscope {

struct Cupti {
  std::uint32_t version = 0;  // of its interface: 22 (CUDA 12.4) to 28, then 130000 and up
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  // Null if the library lacks them. Older headers also lack some, hence no decltype.
  CUptiResult (*enable_runtime)(CUpti_CallbackId id, std::uint8_t on) = nullptr;
  CUptiResult (*enable_driver)(CUpti_CallbackId id, std::uint8_t on) = nullptr;
  CUptiResult (*enable_all_sync)(std::uint8_t on) = nullptr;
  CUptiResult (*disable)(CUpti_ActivityKind kind) = nullptr;
  CUptiResult (*timestamp)(std::uint64_t* now) = nullptr;
};

// Fills `cupti`: from the library that is loaded already, else from one that fits the program's CUDA runtime. Returns
// null, or why there is none that can be used; the text holds until the next call.
const char* LoadCupti(Cupti& cupti) noexcept;

// What to do about an error, after a blank; "" where there is no advice.
const char* CuptiAdvice(CUptiResult result) noexcept;
// "CUPTI_ERROR_NOT_INITIALIZED" and the like.
const char* CuptiText(const Cupti& cupti, CUptiResult result) noexcept;

}  // namespace loopscope
