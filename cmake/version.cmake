# Makes respike_version.h from version.h.in; respike_uses_version(TARGET) lets a target include it.
string(JOIN ", " RESPIKE_BUILT_WITH
  "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "LLVM ${LLVM_PACKAGE_VERSION}" "SQLite ${SQLite3_VERSION}")
if(RESPIKE_CHECKS)
  string(APPEND RESPIKE_BUILT_WITH ", with assertions")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${PROJECT_BINARY_DIR}/generated/respike_version.h @ONLY)

function(respike_uses_version target)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
