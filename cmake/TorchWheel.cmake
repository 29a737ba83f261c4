# Imports LibTorch from the torch wheel of LOOPSCOPE_PYTHON by path: torch::headers (no CUDA header needed) and
# torch::cpu (libtorch_cpu, libc10). find_package(Torch) is not used, because it asks for nvcc.
execute_process(
  COMMAND "${LOOPSCOPE_PYTHON}" -I -c
    "import importlib.util,os;s=importlib.util.find_spec('torch');p=os.path.dirname(s.origin);v={};exec(open(os.path.join(p,'version.py')).read(),v);print(p);print(v['__version__'])"
  OUTPUT_VARIABLE torch_answer RESULT_VARIABLE torch_status OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT torch_status EQUAL 0)
  message(FATAL_ERROR "No torch in ${LOOPSCOPE_PYTHON}. Run `make venv`, or pass -DLOOPSCOPE_PYTHON=/path/to/python with torch installed.")
endif()
string(REPLACE "\n" ";" torch_answer "${torch_answer}")
list(GET torch_answer 0 TORCH_FOLDER)
list(GET torch_answer 1 TORCH_VERSION)
message(STATUS "torch ${TORCH_VERSION} in ${TORCH_FOLDER}")

add_library(torch::headers INTERFACE IMPORTED)
target_include_directories(torch::headers SYSTEM INTERFACE
  "${TORCH_FOLDER}/include" "${TORCH_FOLDER}/include/torch/csrc/api/include")
# NDEBUG: without it the header changes RecordFunction's layout. FMT_HEADER_ONLY: torch's own fmt shadows Debian's.
target_compile_definitions(torch::headers INTERFACE NDEBUG FMT_HEADER_ONLY=1)

foreach(name IN ITEMS c10 torch_cpu)
  add_library(torch::${name} SHARED IMPORTED)
  set_target_properties(torch::${name} PROPERTIES IMPORTED_LOCATION "${TORCH_FOLDER}/lib/lib${name}.so")
endforeach()
add_library(torch::cpu INTERFACE IMPORTED)
target_link_libraries(torch::cpu INTERFACE torch::headers torch::torch_cpu torch::c10)

# torch::cuda (libc10_cuda) and torch::torch_cuda where the wheel has a CUDA side and CUDA's headers are there: those of
# the cuda-toolkit wheel beside torch's own.
find_path(LOOPSCOPE_CUDA_INCLUDE cuda_runtime_api.h
  HINTS "${TORCH_FOLDER}/../nvidia/cu13/include" "${TORCH_FOLDER}/../nvidia/cuda_runtime/include" NO_CMAKE_SYSTEM_PATH)
if(EXISTS "${TORCH_FOLDER}/lib/libc10_cuda.so" AND LOOPSCOPE_CUDA_INCLUDE)
  foreach(name IN ITEMS c10_cuda torch_cuda)
    add_library(torch::${name} SHARED IMPORTED)
    set_target_properties(torch::${name} PROPERTIES IMPORTED_LOCATION "${TORCH_FOLDER}/lib/lib${name}.so")
  endforeach()
  add_library(torch::cuda INTERFACE IMPORTED)
  target_include_directories(torch::cuda SYSTEM INTERFACE "${LOOPSCOPE_CUDA_INCLUDE}")
  target_link_libraries(torch::cuda INTERFACE torch::cpu torch::c10_cuda)
endif()
