# Lets the compiler read the files of a target in batches (cmake/unity_batches.py says which go
# together), so that headers are read once for a batch. A build from scratch takes less than half of
# the time; after a change of a file its batch is compiled again, which takes longer than the file
# alone: RESPIKE_UNITY=OFF is better for working on a file.
option(RESPIKE_UNITY "The compiler reads several files at once" ON)
set(RESPIKE_UNITY_LINES 2500 CACHE STRING "How many lines the compiler reads at once, without headers")
find_program(RESPIKE_PYTHON NAMES python3)
if(RESPIKE_UNITY AND NOT RESPIKE_PYTHON)
  message(STATUS "the compiler reads each file by itself: there is no python3 that says which go together")
  set(RESPIKE_UNITY OFF)
endif()
if(RESPIKE_UNITY)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # they gain little where headers are read rarely
endif()

# A file of a batch is no longer a separate source for any target of its folder: if targets share
# files, all of these targets have batches.
function(respike_unity target)
  if(NOT RESPIKE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")  # files that the build makes
  execute_process(
    COMMAND ${RESPIKE_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/unity_batches.py ${RESPIKE_UNITY_LINES} ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE rows COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" rows "${rows}")
  get_target_property(has_moc ${target} AUTOMOC)
  set(batches)
  set(ordered)
  foreach(row ${rows})
    string(REPLACE "\t" ";" row "${row}")
    list(GET row 0 file)
    list(GET row 1 batch)
    list(APPEND ordered ${file})
    if(has_moc)
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${target}-${batch})
    else()
      set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY ON)
      cmake_path(ABSOLUTE_PATH file NORMALIZE)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND batches ${batch})
      string(APPEND text_${batch} "#include \"${file}\"\n")
    endif()
  endforeach()
  if(has_moc)
    get_target_property(others ${target} SOURCES)
    list(REMOVE_ITEM others ${ordered})
    set_target_properties(${target} PROPERTIES SOURCES "${ordered};${others}" UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    return()
  endif()
  # CMake's own batches would name files by absolute paths, and a compiler's cache would not find
  # them in another folder.
  list(REMOVE_DUPLICATES batches)
  foreach(batch ${batches})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}-${batch}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${batch}}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
endfunction()
