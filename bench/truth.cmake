# SPDX-License-Identifier: MIT
# What bench/truth needs beside the binary; a short form of it is a test, so tests build it, too.
if(NOT TARGET bench_bill)
  add_executable(bench_bill ${CMAKE_CURRENT_LIST_DIR}/bill.c)
  target_link_libraries(bench_bill PRIVATE iodash_session)
  add_executable(delay_proxy ${CMAKE_CURRENT_LIST_DIR}/delay_proxy.c)
  target_link_libraries(delay_proxy PRIVATE iodash_options)
  add_library(plant_shim MODULE ${CMAKE_CURRENT_LIST_DIR}/plant_shim.c)
  set_target_properties(plant_shim PROPERTIES PREFIX "" LINKER_LANGUAGE C)
  target_compile_features(plant_shim PRIVATE c_std_17)
  target_compile_options(plant_shim PRIVATE -Wall -Wextra)
  target_compile_definitions(plant_shim PRIVATE _GNU_SOURCE)
  target_link_libraries(plant_shim PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(bench_bill delay_proxy plant_shim PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
