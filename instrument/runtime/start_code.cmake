# The start code of a machine: C and assembly compiled for that machine, as an array of bytes.
#
# respike_start_code(MACHINE PREFIX FLAGS...): compiles start.c with the folder MACHINE by PREFIXgcc.
# Adds to respike_instrument a header MACHINE_start_code.inc and the definition
# RESPIKE_START_CODE_MACHINE, which is 1 or, without that compiler, 0: then Respike reports at run time
# that it cannot instrument for the machine; everything else works. The bytes are also in
# start_code/MACHINE.bin of the build folder, for tests. SOURCE names another file than start.c. With
# FRAMES before the flags the header MACHINE_start_image.inc holds the start code as an ELF file with
# unwind information.
#
# respike_assembled_start_code(MACHINE PREFIX): the same for a machine that has an assembler but no
# compiler here: from MACHINE/start.s, which a compiler made of start.c, and MACHINE/entry.s.

function(respike_start_code machine prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FRAMES" "SOURCE" "")
  if(NOT arg_SOURCE)
    set(arg_SOURCE start.c)
  endif()
  set(frames)
  set(tables -fno-asynchronous-unwind-tables -fno-unwind-tables)
  if(arg_FRAMES)
    set(frames FRAMES)
    set(tables -fasynchronous-unwind-tables)
  endif()
  string(TOUPPER RESPIKE_START_CODE_${machine} definition)
  find_program(${definition}_COMPILER ${prefix}gcc)
  if(NOT ${definition}_COMPILER)
    respike_no_start_code(${machine} ${RESPIKE_ALPHA_PACKAGES})
    return()
  endif()
  mark_as_advanced(${definition}_COMPILER)
  set(shared ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(own ${shared}/${machine})
  file(GLOB files CONFIGURE_DEPENDS ${own}/* ${shared}/alpha_frame.h)
  respike_embed_start_code(${machine} ${prefix} ${frames}
    LINK ${${definition}_COMPILER}
      -std=gnu11 -O2 -Wall -Wextra -Werror -Wframe-larger-than=512
      -ffreestanding -fno-builtin -fno-stack-protector -fno-strict-aliasing -fno-pie
      -fno-tree-loop-distribute-patterns  # makes calls of memcpy and memset
      ${tables} ${arg_UNPARSED_ARGUMENTS} -I ${PROJECT_SOURCE_DIR} -I ${own}
      -nostdlib -static -no-pie -Wl,-T,${own}/start.ld -Wl,--build-id=none -Wl,--no-relax
      ${shared}/${arg_SOURCE} ${own}/entry.S
    DEPENDS ${shared}/${arg_SOURCE} ${shared}/counter_file.h ${files})
endfunction()

function(respike_assembled_start_code machine prefix)
  string(TOUPPER RESPIKE_START_CODE_${machine} definition)
  find_program(${definition}_ASSEMBLER ${prefix}as)
  find_program(${definition}_LINKER ${prefix}ld)
  mark_as_advanced(${definition}_ASSEMBLER ${definition}_LINKER)
  if(NOT ${definition}_ASSEMBLER OR NOT ${definition}_LINKER)
    respike_no_start_code(${machine} binutils-ia64-linux-gnu)
    return()
  endif()
  set(own ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${machine})
  set(object ${PROJECT_BINARY_DIR}/start_code/${machine}.o)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/start_code)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${${definition}_ASSEMBLER} -o ${object} ${own}/start.s ${own}/entry.s
    DEPENDS ${own}/start.s ${own}/entry.s
    VERBATIM)
  respike_embed_start_code(${machine} ${prefix}
    LINK ${${definition}_LINKER} -nostdlib -static --build-id=none -T ${own}/start.ld ${object}
    DEPENDS ${object} ${own}/start.ld)
endfunction()

function(respike_no_start_code machine)
  string(TOUPPER RESPIKE_START_CODE_${machine} definition)
  respike_left_out("counting in ${machine} programs" ${ARGN})
  target_compile_definitions(respike_instrument PRIVATE ${definition}=0)
endfunction()

# LINK: the command that makes an executable of the start code; `-o FILE` is added.
function(respike_embed_start_code machine prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FRAMES" "" "LINK;DEPENDS")
  string(TOUPPER RESPIKE_START_CODE_${machine} definition)
  find_program(${definition}_OBJCOPY ${prefix}objcopy REQUIRED)
  mark_as_advanced(${definition}_OBJCOPY)
  set(folder ${PROJECT_BINARY_DIR}/start_code)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${folder}/${machine}_start_code.inc
    BYPRODUCTS ${folder}/${machine}.bin ${folder}/${machine}.elf
    COMMAND ${arg_LINK} -o ${folder}/${machine}.elf
    COMMAND ${${definition}_OBJCOPY} -O binary -j .text
      ${folder}/${machine}.elf ${folder}/${machine}.bin
    COMMAND ${CMAKE_COMMAND} -D INPUT=${folder}/${machine}.bin
      -D OUTPUT=${folder}/${machine}_start_code.inc -P ${RESPIKE_EMBED_SCRIPT}
    DEPENDS ${arg_DEPENDS} ${RESPIKE_EMBED_SCRIPT} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Making the start code for ${machine}"
    VERBATIM)
  target_sources(respike_instrument PRIVATE ${folder}/${machine}_start_code.inc)
  if(arg_FRAMES)
    add_custom_command(
      OUTPUT ${folder}/${machine}_start_image.inc
      COMMAND ${${definition}_OBJCOPY} --strip-all
        ${folder}/${machine}.elf ${folder}/${machine}.stripped
      COMMAND ${CMAKE_COMMAND} -D INPUT=${folder}/${machine}.stripped
        -D OUTPUT=${folder}/${machine}_start_image.inc -P ${RESPIKE_EMBED_SCRIPT}
      DEPENDS ${folder}/${machine}_start_code.inc
      VERBATIM)
    target_sources(respike_instrument PRIVATE ${folder}/${machine}_start_image.inc)
  endif()
  target_include_directories(respike_instrument PRIVATE ${folder})
  target_compile_definitions(respike_instrument PRIVATE ${definition}=1)
endfunction()
