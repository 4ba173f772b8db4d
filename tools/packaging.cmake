# SPDX-License-Identifier: MIT
# What is installed beside the program, and packages of it (cpack -G DEB, cpack -G TGZ).
install(DIRECTORY assets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/iodash)
install(FILES LICENSE README.md SECURITY.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES tools/completion.bash RENAME iodash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

find_program(SCDOC scdoc)
if(SCDOC)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/iodash.1
    COMMAND sh -c "${SCDOC} <'${CMAKE_SOURCE_DIR}/docs/iodash.1.scd' >iodash.1"
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} DEPENDS docs/iodash.1.scd VERBATIM)
  add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/iodash.1)
  install(FILES ${CMAKE_BINARY_DIR}/iodash.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
  message(STATUS "Without the manual page: scdoc is missing")
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR iodash)
set(CPACK_PACKAGE_CONTACT "the developers of iodash")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "terminal dashboard that compares I/O models of servers")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, bash-completion")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
