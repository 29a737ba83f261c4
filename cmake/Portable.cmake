# Programs for other systems than this one: they bring their C++ library and fmt along, so that an older libstdc++ will
# do; shared libraries in C can be put beside them. Linked of the same objects as the others, and only when asked for.

# loopscope_fmt: Debian's shared fmt, or in a portable program one that is compiled here from its headers.
function(loopscope_portable_libraries)
  add_library(loopscope_fmt_portable STATIC EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/portable/fmt.cpp")
  target_include_directories(loopscope_fmt_portable PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  add_library(loopscope_fmt INTERFACE)
  target_compile_definitions(loopscope_fmt INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  target_include_directories(loopscope_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(loopscope_fmt INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:LOOPSCOPE_PORTABLE>>,loopscope_fmt_portable,fmt::fmt>)
endfunction()

# loopscope_portable(<name> <libraries> <sources>…): build/portable/<name>, the target <name>_portable.
function(loopscope_portable name libraries)
  add_executable(${name}_portable EXCLUDE_FROM_ALL ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/portable/arc4random.cpp")
  target_link_libraries(${name}_portable PRIVATE ${libraries})
  target_link_options(${name}_portable PRIVATE -static-libstdc++ -Wl,--as-needed)
  set_target_properties(${name}_portable PROPERTIES LOOPSCOPE_PORTABLE ON OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/portable")
endfunction()
