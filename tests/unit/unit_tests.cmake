# The unit tests, where all that they need is installed.

# Headers that nearly all files of unit/ include are read once.
add_library(test_headers OBJECT unit/headers.cc)
target_link_libraries(test_headers PRIVATE fmt::fmt GTest::gtest)
target_compile_options(test_headers PRIVATE ${unit_options})
target_precompile_headers(test_headers PRIVATE unit/headers.h)

# All files of unit/ in one program; CTest's tests are the files.
llvm_map_components_to_libnames(x86_64_oracle x86disassembler x86desc x86info)
file(GLOB unit_tests CONFIGURE_DEPENDS unit/*_test.cc)
add_executable(unit_tests ${unit_tests} unit/ir_assembler.cc unit/ir_commands.cc unit/ir_text_program.cc unit/x86_64_zydis.cc)
target_include_directories(unit_tests SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_libraries(unit_tests PRIVATE
  respike_optimizer respike_ir_text respike_instrument respike_matching respike_profiledb respike_measure respike_tas
  respike_applications respike_ia64_emulator SOCI::sqlite3 GTest::gtest_main ${MPFR_LIBRARY} ${GMP_LIBRARY} Zydis::Zydis
  ${x86_64_oracle})
target_compile_options(unit_tests PRIVATE ${unit_options})
target_precompile_headers(unit_tests REUSE_FROM test_headers)
respike_unity(unit_tests)
# Where tests find their files, in a file of its own: other files compile to the same in any folder.
target_sources(unit_tests PRIVATE unit/folders.cc)
set_source_files_properties(unit/folders.cc PROPERTIES COMPILE_DEFINITIONS
  "RESPIKE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";RESPIKE_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
set(all_suites)
foreach(file ${unit_tests})
  get_filename_component(name ${file} NAME_WE)
  suites_of_file(suites ${file})
  string(APPEND all_suites :${suites})
  if(name STREQUAL unwind_programs_test AND NOT RESPIKE_ALL_CASES)
    string(APPEND suites "-*/unoptimized:*/pie")  # the same source as `exceptions`
  endif()
  add_test(NAME unit.${name} COMMAND unit_tests --gtest_filter=${suites})
endforeach()
# No suite is in none of these.
add_test(NAME unit.every_suite COMMAND unit_tests --gtest_filter=-${all_suites})
set_tests_properties(unit.every_suite PROPERTIES PASS_REGULAR_EXPRESSION "Running 0 tests")
