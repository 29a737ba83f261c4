# `cmake --install build --prefix DIR`: the program with its probes, and loopscope.h for find_package(loopscope). The
# component `wheel` is what `make wheel` packs: the portable program, and probes for further torches.
include(CMakePackageConfigHelpers)

# Where `loopscope` looks from its own folder on (profiler/launch/probe_paths.cpp).
set(probes_folder lib/loopscope)
get_property(probes GLOBAL PROPERTY LOOPSCOPE_PROBES)

install(TARGETS loopscope RUNTIME DESTINATION bin COMPONENT program)
install(TARGETS loopscope_portable RUNTIME DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_SOURCE_DIR}/integrations/dask_report.py" "${PROJECT_SOURCE_DIR}/integrations/notebook.py"
  DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
# The licences of what the wheel brings along, or was compiled in.
foreach(package IN ITEMS libdw1 libelf1 libsqlite3-0 libisal2 libzstd1 liblzma5 libbz2-1.0 libstdc++6 libfmt-dev libcli11-dev
        nlohmann-json3-dev libtomlplusplus-dev libboost-math-dev libjs-chart.js)
  install(FILES "/usr/share/doc/${package}/copyright" DESTINATION share/doc/loopscope/third-party RENAME "${package}.txt"
    COMPONENT wheel EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
foreach(component IN ITEMS program wheel)
  set(only)
  if(component STREQUAL "wheel")
    set(only EXCLUDE_FROM_ALL)
  endif()
  install(TARGETS ${probes} LIBRARY DESTINATION ${probes_folder} COMPONENT ${component} ${only})
  install(DIRECTORY "${PROJECT_BINARY_DIR}/probes/python" "${PROJECT_BINARY_DIR}/probes/forms"
    "${PROJECT_BINARY_DIR}/probes/sources"
    DESTINATION ${probes_folder} COMPONENT ${component} ${only} PATTERN __pycache__ EXCLUDE)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/loopscope COMPONENT ${component} ${only})
  if(LOOPSCOPE_TORCH)
    install(FILES "${PROJECT_BINARY_DIR}/probes/torch_version" DESTINATION ${probes_folder} COMPONENT ${component} ${only})
  endif()
endforeach()
foreach(minor IN LISTS LOOPSCOPE_OTHER_TORCHES)
  foreach(target IN ITEMS loopscope_torch_${minor} loopscope_torch_cuda_${minor})
    if(TARGET ${target})
      install(TARGETS ${target} LIBRARY DESTINATION ${probes_folder}/torch-${minor}
        COMPONENT wheel EXCLUDE_FROM_ALL OPTIONAL)
    endif()
  endforeach()
endforeach()
# Completions and the manual page, of the program's own --help.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(shell_folder "${PROJECT_BINARY_DIR}/shell")
set(shell_files "${shell_folder}/loopscope.bash" "${shell_folder}/_loopscope" "${shell_folder}/loopscope.fish"
  "${shell_folder}/loopscope.1")
set(shell_script "${PROJECT_SOURCE_DIR}/cmake/shell/make_shell_files.py")
add_custom_command(OUTPUT ${shell_files} DEPENDS loopscope "${shell_script}"
  COMMAND "${Python3_EXECUTABLE}" "${shell_script}" $<TARGET_FILE:loopscope> "${shell_folder}" VERBATIM)
add_custom_target(loopscope_shell_files ALL DEPENDS ${shell_files})
foreach(component IN ITEMS program shell)  # `shell`: for the wheel, which has its own place for them
  set(only)
  if(component STREQUAL "shell")
    set(only EXCLUDE_FROM_ALL)
  endif()
  install(FILES "${shell_folder}/loopscope.1" DESTINATION share/man/man1 COMPONENT ${component} ${only})
  install(FILES "${shell_folder}/loopscope.bash" DESTINATION share/bash-completion/completions RENAME loopscope
    COMPONENT ${component} ${only})
  install(FILES "${shell_folder}/_loopscope" DESTINATION share/zsh/site-functions COMPONENT ${component} ${only})
  install(FILES "${shell_folder}/loopscope.fish" DESTINATION share/fish/vendor_completions.d
    COMPONENT ${component} ${only})
endforeach()

if(TARGET loopscope_parquet)
  install(TARGETS loopscope_parquet LIBRARY DESTINATION ${probes_folder} COMPONENT program)
endif()
add_custom_target(loopscope_wheel DEPENDS loopscope_portable loopscope_probes loopscope_shell_files)
if(LOOPSCOPE_TORCH)
  add_dependencies(loopscope_wheel loopscope_other_probes)
endif()

# loopscope::loopscope has loopscope.h on its path: step marks, knobs and metrics for C++ programs.
add_library(loopscope_header INTERFACE)
set_target_properties(loopscope_header PROPERTIES EXPORT_NAME loopscope)
target_compile_features(loopscope_header INTERFACE cxx_std_17)
target_include_directories(loopscope_header INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(loopscope_header INTERFACE ${CMAKE_DL_LIBS})
install(TARGETS loopscope_header EXPORT loopscope)
install(FILES "${PROJECT_SOURCE_DIR}/probes/loopscope.h" DESTINATION include)
install(EXPORT loopscope NAMESPACE loopscope:: FILE loopscope-config.cmake DESTINATION lib/cmake/loopscope)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/loopscope-config-version.cmake"
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/loopscope-config-version.cmake" DESTINATION lib/cmake/loopscope)
