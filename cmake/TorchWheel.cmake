# Imports LibTorch from the torch wheel of LOOPSCOPE_PYTHON by path, as torch::headers (no CUDA header needed), torch::cpu
# (libtorch_cpu, libc10) and, where there is CUDA, torch::cuda. find_package(Torch) is not used, because it asks for nvcc.
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

# CUDA's headers: those of the cuda-toolkit wheel beside torch's own.
find_path(LOOPSCOPE_CUDA_INCLUDE cuda_runtime_api.h
  HINTS "${TORCH_FOLDER}/../nvidia/cu13/include" "${TORCH_FOLDER}/../nvidia/cuda_runtime/include" NO_CMAKE_SYSTEM_PATH)

# loopscope_import_torch(<name> <folder>): <name>::headers and <name>::cpu; <name>::cuda (libc10_cuda) and
# <name>::torch_cuda where the wheel has a CUDA side and CUDA's headers are there.
function(loopscope_import_torch torch folder)
  add_library(${torch}::headers INTERFACE IMPORTED)
  target_include_directories(${torch}::headers SYSTEM INTERFACE
    "${folder}/include" "${folder}/include/torch/csrc/api/include")
  # NDEBUG: without it the header changes RecordFunction's layout. FMT_HEADER_ONLY: torch's own fmt shadows Debian's.
  target_compile_definitions(${torch}::headers INTERFACE NDEBUG FMT_HEADER_ONLY=1)
  foreach(library IN ITEMS c10 torch_cpu c10_cuda torch_cuda)
    if(EXISTS "${folder}/lib/lib${library}.so")
      add_library(${torch}::${library} SHARED IMPORTED)
      set_target_properties(${torch}::${library} PROPERTIES IMPORTED_LOCATION "${folder}/lib/lib${library}.so")
    endif()
  endforeach()
  add_library(${torch}::cpu INTERFACE IMPORTED)
  target_link_libraries(${torch}::cpu INTERFACE ${torch}::headers ${torch}::torch_cpu ${torch}::c10)
  if(TARGET ${torch}::c10_cuda AND LOOPSCOPE_CUDA_INCLUDE)
    add_library(${torch}::cuda INTERFACE IMPORTED)
    target_include_directories(${torch}::cuda SYSTEM INTERFACE "${LOOPSCOPE_CUDA_INCLUDE}")
    target_link_libraries(${torch}::cuda INTERFACE ${torch}::cpu ${torch}::c10_cuda)
  endif()
endfunction()

loopscope_import_torch(torch "${TORCH_FOLDER}")

# Further torches, for the wheel: torch_2.8::cpu and so on; LOOPSCOPE_OTHER_TORCHES lists 2.8 and so on.
set(LOOPSCOPE_OTHER_TORCHES)
if(LOOPSCOPE_TORCHES)
  file(GLOB version_files "${LOOPSCOPE_TORCHES}/*/torch/version.py")
  foreach(version_file IN LISTS version_files)
    cmake_path(GET version_file PARENT_PATH folder)
    string(REGEX REPLACE "^.*/([0-9]+\\.[0-9]+)[^/]*/torch$" "\\1" minor "${folder}")
    if(NOT TORCH_VERSION MATCHES "^${minor}\\.")
      loopscope_import_torch(torch_${minor} "${folder}")
      list(APPEND LOOPSCOPE_OTHER_TORCHES ${minor})
    endif()
  endforeach()
endif()
