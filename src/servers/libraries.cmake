# SPDX-License-Identifier: MIT
# The event libraries behind models, each optional: sets LIBRARY_SOURCES, and LIBRARY_LINKS with
# libevent before libev, which exports functions of libevent's names (a test asks who answers).
# -DIODASH_LIBRARIES=OFF builds as if none were there.
option(IODASH_LIBRARIES "Build the models over libevent, libuv and libev where these are there" ON)
set(LIBRARY_SOURCES by_fd.c absent.c)
set(LIBRARY_LINKS "")

# iodash_library(NAME FOUND LINK...): model_NAME.c linked with LINK when FOUND, else its stand-in.
macro(iodash_library name found)
  if(IODASH_LIBRARIES AND ${found})
    list(APPEND LIBRARY_SOURCES model_${name}.c)
    list(APPEND LIBRARY_LINKS ${ARGN})
  else()
    list(APPEND LIBRARY_SOURCES model_${name}_absent.c)
    message(STATUS "Without the model ${name}")
  endif()
endmacro()

pkg_check_modules(LIBEVENT IMPORTED_TARGET libevent_core)
pkg_check_modules(LIBUV IMPORTED_TARGET libuv)
find_path(EV_INCLUDE_DIR ev.h)
find_library(EV_LIBRARY ev)
if(EV_INCLUDE_DIR AND EV_LIBRARY)
  add_library(iodash_ev INTERFACE)
  target_include_directories(iodash_ev SYSTEM INTERFACE ${EV_INCLUDE_DIR})
  target_link_libraries(iodash_ev INTERFACE ${EV_LIBRARY})
endif()
iodash_library(libevent LIBEVENT_FOUND PkgConfig::LIBEVENT)
iodash_library(libuv LIBUV_FOUND PkgConfig::LIBUV)
iodash_library(libev EV_LIBRARY iodash_ev)
