# Imports Arrow's C++ libraries from the pyarrow wheel of LOOPSCOPE_PYTHON by path: arrow::parquet. The target is missing
# where there is no pyarrow: `loopscope --parquet` then says what to install.
execute_process(
  COMMAND "${LOOPSCOPE_PYTHON}" -I -c
    "import importlib.util,os;p=os.path.dirname(importlib.util.find_spec('pyarrow').origin);print(p)"
  OUTPUT_VARIABLE ARROW_FOLDER RESULT_VARIABLE arrow_status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT arrow_status EQUAL 0)
  message(STATUS "No pyarrow in ${LOOPSCOPE_PYTHON}: no Parquet")
  return()
endif()
message(STATUS "Arrow in ${ARROW_FOLDER}")
add_library(arrow::parquet INTERFACE IMPORTED)
target_include_directories(arrow::parquet SYSTEM INTERFACE "${ARROW_FOLDER}/include")
foreach(name IN ITEMS arrow parquet)
  file(GLOB library "${ARROW_FOLDER}/lib${name}.so.[0-9]*")
  list(GET library 0 library)
  target_link_libraries(arrow::parquet INTERFACE "${library}")
endforeach()
