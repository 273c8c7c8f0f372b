# A run of the tests leaves no file in the source tree, and a test fails when it does (tests/source_tree.py).
#
# All tests need the fixture `source_tree`: CTest runs `source_tree_before`, which lists the files,
# before the first test, and `source_tree`, which compares, after the last test, even if only some
# tests are selected. Tests start in an empty folder of the build, so that files that a program
# leaves there do no harm, and are found as well.

set(RESPIKE_WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests/working)
file(MAKE_DIRECTORY ${RESPIKE_WORKING_DIRECTORY})

# Arguments of gtest_discover_tests().
set(RESPIKE_WATCHED
  WORKING_DIRECTORY ${RESPIKE_WORKING_DIRECTORY}
  PROPERTIES FIXTURES_REQUIRED source_tree ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)

# The tests that this folder has added so far, except those of gtest_discover_tests().
function(watch_source_tree)
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(REMOVE_ITEM tests source_tree_before source_tree)
  foreach(test ${tests})
    set_property(TEST ${test} APPEND PROPERTY FIXTURES_REQUIRED source_tree)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
    set_property(TEST ${test} PROPERTY WORKING_DIRECTORY ${RESPIKE_WORKING_DIRECTORY})
  endforeach()
endfunction()
