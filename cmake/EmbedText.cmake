# loopscope_embed_texts(<out.cpp> <array> <file>…): a source that defines, in namespace loopscope,
#   extern const std::pair<std::string_view, std::string_view> <array>[]; extern const std::size_t <array>Count;
# with each file's stem (underscores as dashes) and its text. Made again whenever a file changes.
# The same file is the script that writes it: cmake -DOUT=… -DARRAY=… "-DFILES=a.md;b.md" -P EmbedText.cmake
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(body "// Made by EmbedText.cmake.\n#include <cstddef>\n#include <string_view>\n#include <utility>\n\nnamespace loopscope {\n")
  string(APPEND body "extern const std::pair<std::string_view, std::string_view> ${ARRAY}[];\nextern const std::size_t ${ARRAY}Count;\n\n")
  string(APPEND body "const std::pair<std::string_view, std::string_view> ${ARRAY}[] = {\n")
  set(count 0)
  foreach(path IN LISTS FILES)
    get_filename_component(stem "${path}" NAME_WE)
    string(REPLACE "_" "-" id "${stem}")
    file(READ "${path}" text)
    string(APPEND body "    {\"${id}\", R\"embedded(${text})embedded\"},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  string(APPEND body "};\nconst std::size_t ${ARRAY}Count = ${count};\n\n}  // namespace loopscope\n")
  file(WRITE "${OUT}" "${body}")
  return()
endif()

set(LOOPSCOPE_EMBED_TEXT "${CMAKE_CURRENT_LIST_FILE}")
function(loopscope_embed_texts out array)
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${out}" "-DARRAY=${array}" "-DFILES=${ARGN}" -P "${LOOPSCOPE_EMBED_TEXT}"
    DEPENDS ${ARGN} "${LOOPSCOPE_EMBED_TEXT}" VERBATIM)
endfunction()
