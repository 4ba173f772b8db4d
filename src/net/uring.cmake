# SPDX-License-Identifier: MIT
# liburing, behind the models and the load engine over io_uring, optional: sets URING_LINKS and the
# sources of each folder. 2.3 is the first with multishot receives. -DIODASH_URING=OFF builds as if
# it were not there.
option(IODASH_URING "Build what uses io_uring where liburing is there" ON)
pkg_check_modules(LIBURING IMPORTED_TARGET liburing>=2.3)
if(IODASH_URING AND LIBURING_FOUND)
  set(URING_NET_SOURCES uring.c uring_buffers.c)
  set(URING_METRICS_SOURCES price_ring.c)
  set(URING_LOAD_SOURCES mux_uring.c)
  set(URING_SOURCES model_uring.c model_uring_poll.c uring.c)
  set(URING_LINKS PkgConfig::LIBURING)
else()
  set(URING_NET_SOURCES uring_absent.c)
  set(URING_METRICS_SOURCES price_ring_absent.c)
  set(URING_LOAD_SOURCES mux_uring_absent.c)
  set(URING_SOURCES model_uring_absent.c)
  set(URING_LINKS "")
  message(STATUS "Without the models uring and uring-poll and the load engine mux-uring")
endif()
