# loopscope_seam_sources(<out> <list.def>): the sources named in a seam's .def list, one per line of the form
#   LOOPSCOPE_<KIND>(<stem>, <constant>)
# C++ expands the same list to the array of constants.
function(loopscope_seam_sources out def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${def}")
  file(STRINGS "${def}" lines REGEX "^LOOPSCOPE_")
  get_filename_component(folder "${def}" DIRECTORY)
  set(sources)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^LOOPSCOPE_[A-Z]+\\(([a-z0-9_]+),.*$" "\\1" stem "${line}")
    list(APPEND sources "${folder}/${stem}.cpp")
  endforeach()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()
