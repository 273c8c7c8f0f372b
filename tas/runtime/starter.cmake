# respike-starter, which the kernel calls for intercepted programs: freestanding C for this host.
#
# respike_starter(MACHINE FLAGS...): compiles starter.c with the system calls of the machine's start
# code (instrument/runtime/MACHINE/system_call.h) and its own MACHINE/entry.h. It is compiled
# separately, since nothing may be linked to it, sanitizers included; always by GCC, whose options
# it needs.

function(respike_starter machine)
  set(output ${PROJECT_BINARY_DIR}/respike-starter)
  set(calls ${PROJECT_SOURCE_DIR}/instrument/runtime/${machine})
  set(own ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  find_program(RESPIKE_STARTER_COMPILER NAMES ${machine}-linux-gnu-gcc gcc REQUIRED)
  mark_as_advanced(RESPIKE_STARTER_COMPILER)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${RESPIKE_STARTER_COMPILER}
      -std=gnu11 -O2 -Wall -Wextra -Werror -fno-pie -no-pie
      -ffreestanding -fno-builtin -fno-stack-protector -fno-strict-aliasing
      -fno-tree-loop-distribute-patterns  # else GCC makes calls of memcpy and memset
      -fno-asynchronous-unwind-tables -fno-unwind-tables
      ${ARGN} -I ${PROJECT_SOURCE_DIR} -I ${calls} -I ${own}/${machine}
      -nostdlib -static -Wl,--build-id=none -s -o ${output} ${own}/starter.c
    DEPENDS ${own}/starter.c ${own}/asking.h ${own}/mounting.h ${own}/freestanding.h ${own}/start_table.h ${own}/${machine}/entry.h ${calls}/system_call.h
      ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Compiling respike-starter"
    VERBATIM)
  add_custom_target(respike-starter ALL DEPENDS ${output})
endfunction()
