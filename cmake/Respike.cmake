# respike_optimize(): a faster image of a target, from the profile of a training run.
#
#   respike_optimize(TARGET
#     [TRAIN ARGUMENT...]      the program's arguments in the training run
#     [PROFILE FILE]           a profile of `respike profile export` instead: nothing runs
#     [INPUT FILE]             the program's standard input in the training run
#     [LIBRARIES TARGET...]    shared libraries of this project to optimize with it
#     [OUTPUT FOLDER]          for the faster images; default: fast, in the binary folder
#     [NAME NAME])             name of the application in the database; default: TARGET
#
# The images have the names of the originals, which do not change. The training runs once, and again
# when INPUT or a file among the arguments changes; a new build of the program is optimized with the
# existing profile, which Respike carries over to it. `cmake --build build --target TARGET-train`
# trains again; the next build uses it.
#
# The function comes with find_package(Respike), or by including this file.
#
# RESPIKE is the respike command, RESPIKE_DB the database; both are cache variables.

find_program(RESPIKE respike HINTS ${CMAKE_CURRENT_LIST_DIR}/../build ${CMAKE_CURRENT_LIST_DIR}/../../../bin
  DOC "The respike command" NO_CMAKE_FIND_ROOT_PATH)
set(RESPIKE_DB ${CMAKE_BINARY_DIR}/respike.db CACHE FILEPATH "Respike's database of profiles")

function(respike_optimize target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "INPUT;OUTPUT;NAME;PROFILE" "TRAIN;LIBRARIES")
  if(NOT RESPIKE)
    message(FATAL_ERROR "respike_optimize: the respike command was not found; set RESPIKE to its path")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "respike_optimize: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME ${target})
  endif()
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fast)
  endif()

  # Respike's only requirement for a build: the linker keeps its relocations.
  foreach(image ${target} ${ARG_LIBRARIES})
    target_link_options(${image} PRIVATE LINKER:--emit-relocs)
  endforeach()

  set(respike ${CMAKE_COMMAND} -E env RESPIKE_DB=${RESPIKE_DB} ${RESPIKE})
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.trained)
  set(inputs ${ARG_INPUT})
  foreach(argument ${ARG_TRAIN})
    if(EXISTS ${argument})
      list(APPEND inputs ${argument})
    endif()
  endforeach()
  set(input /dev/null)
  if(ARG_INPUT)
    get_filename_component(input ${ARG_INPUT} ABSOLUTE)
  endif()
  set(collect
    COMMAND ${respike} register $<TARGET_FILE:${target}> --name ${ARG_NAME}
    COMMAND ${respike} instrument ${ARG_NAME}
    COMMAND ${respike} mode ${ARG_NAME} instrumented
    COMMAND sh -c "input=$1 output=$2 && shift 2 && exec \"$@\" < \"$input\" > \"$output\"" sh
      ${input} ${stamp}.out ${respike} run ${ARG_NAME} ${ARG_TRAIN}
    COMMAND ${respike} mode ${ARG_NAME} optimized
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp})

  set(images $<TARGET_FILE:${target}>)
  foreach(library ${ARG_LIBRARIES})
    list(APPEND images $<TARGET_FILE:${library}>)
  endforeach()
  set(export COMMAND ${respike} export ${ARG_NAME} ${ARG_OUTPUT} COMMAND ${CMAKE_COMMAND} -E touch ${stamp}.fast)
  if(ARG_PROFILE)
    get_filename_component(profile ${ARG_PROFILE} ABSOLUTE)
    add_custom_command(OUTPUT ${stamp}.fast
      COMMAND ${respike} register $<TARGET_FILE:${target}> --name ${ARG_NAME}
      COMMAND ${respike} optimize ${ARG_NAME} --profile ${profile}
      ${export}
      DEPENDS ${profile} ${images} COMMENT "Optimizing ${target}" VERBATIM)
    add_custom_target(${target}-fast ALL DEPENDS ${stamp}.fast)
    return()
  endif()

  # As a file dependence the training has only its input, so that a change of the program does not
  # repeat it.
  add_custom_target(${target}-image DEPENDS ${target} ${ARG_LIBRARIES})
  add_custom_command(OUTPUT ${stamp} ${collect} DEPENDS ${inputs} ${target}-image
    COMMENT "Training ${target}" VERBATIM)
  add_custom_command(OUTPUT ${stamp}.fast
    COMMAND ${respike} optimize ${ARG_NAME}
    ${export}
    DEPENDS ${stamp} ${images} COMMENT "Optimizing ${target}" VERBATIM)
  add_custom_target(${target}-fast ALL DEPENDS ${stamp}.fast)
  add_custom_target(${target}-train ${collect} DEPENDS ${target}-image COMMENT "Training ${target}" VERBATIM)
endfunction()
