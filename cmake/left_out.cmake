# Parts that are left out of a build because a package is not installed. respike_left_out(WHAT
# PACKAGES...) records a part, and respike_say_what_is_left_out() lists the parts at the end, in one
# line for each missing package:
#
#   -- left out: the window; install qt6-base-dev qt6-svg-dev

function(respike_left_out what)
  string(JOIN " " packages ${ARGN})
  get_property(known GLOBAL PROPERTY RESPIKE_MISSING)
  if(NOT packages IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY RESPIKE_MISSING ${packages})
  endif()
  set_property(GLOBAL APPEND PROPERTY "RESPIKE_WITHOUT ${packages}" ${what})
endfunction()

function(respike_say_what_is_left_out)
  get_property(missing GLOBAL PROPERTY RESPIKE_MISSING)
  foreach(packages ${missing})
    get_property(parts GLOBAL PROPERTY "RESPIKE_WITHOUT ${packages}")
    list(JOIN parts ", " parts)
    message(STATUS "left out: ${parts}; install ${packages}")
  endforeach()
endfunction()
