/* SPDX-License-Identifier: MIT */
/* Where the data files of the program are. Found once and kept. Thread: any. */
#ifndef BASE_ASSETS_H
#define BASE_ASSETS_H

/* $IODASH_ASSETS, the installed folder, or that of the source tree around the build; "assets" when
 * there is none. */
const char *assets_folder(void);

/* Where they were looked for, as a clause. */
const char *assets_looked(void);

#endif
