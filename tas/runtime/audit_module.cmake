# The audit module of a machine: a shared library for that machine's dynamic linker, as an array of
# bytes.
#
# respike_audit_module(MACHINE PREFIX FLAGS...): compiles opened.c by PREFIXgcc, with the system calls
# that the start code of the machine makes (instrument/runtime/MACHINE/system_call.h). Adds to
# respike_tas a header MACHINE_audit_module.inc and the definition RESPIKE_AUDIT_MODULE_MACHINE, 1 or,
# without that compiler, 0: then libraries that programs of the machine open while they run are not
# noted.

function(respike_audit_module machine prefix)
  string(TOUPPER RESPIKE_AUDIT_MODULE_${machine} definition)
  find_program(${definition}_COMPILER ${prefix}gcc)
  mark_as_advanced(${definition}_COMPILER)
  if(NOT ${definition}_COMPILER)
    respike_left_out("libraries that ${machine} programs open" ${RESPIKE_ALPHA_PACKAGES})
    target_compile_definitions(respike_tas PRIVATE ${definition}=0)
    return()
  endif()

  set(folder ${PROJECT_BINARY_DIR}/audit_module)
  set(own ${PROJECT_SOURCE_DIR}/instrument/runtime/${machine})
  set(source ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/opened.c)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/${machine}_audit_module.inc
    BYPRODUCTS ${folder}/${machine}.so
    COMMAND ${${definition}_COMPILER}
      -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden
      -ffreestanding -fno-builtin -fno-stack-protector -fno-strict-aliasing
      -fno-tree-loop-distribute-patterns  # else GCC makes calls of memcpy and memset
      -fno-asynchronous-unwind-tables -fno-unwind-tables
      ${ARGN} -I ${PROJECT_SOURCE_DIR} -I ${own}
      -nostdlib -shared -Wl,-Bsymbolic -Wl,--build-id=none -Wl,-z,now -Wl,-z,defs -s
      -o ${folder}/${machine}.so ${source}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${folder}/${machine}.so
      -D OUTPUT=${folder}/${machine}_audit_module.inc -P ${RESPIKE_EMBED_SCRIPT}
    DEPENDS ${source} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/asking.h ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mounting.h
      ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/start_table.h ${own}/system_call.h ${RESPIKE_EMBED_SCRIPT} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Compiling the audit module for ${machine}"
    VERBATIM)
  target_sources(respike_tas PRIVATE ${folder}/${machine}_audit_module.inc)
  target_include_directories(respike_tas PRIVATE ${folder})
  target_compile_definitions(respike_tas PRIVATE ${definition}=1)
endfunction()
