/* SPDX-License-Identifier: MIT */
/* Descriptor tables: what is open in one, and one of a thread's own. Thread: the caller's table. */
#ifndef BASE_FDS_H
#define BASE_FDS_H

#define FDS_KEEP_MOST 264

/* Closes all descriptors from 3 on but these n, FDS_KEEP_MOST at most (in any order; negative ones
 * are passed over), in the calling thread's table. */
void fds_keep_only(const int *keep, int n);

/* Gives the calling thread a table of its own with nothing in it but 0 to 2 and these. 0 or -errno;
 * -ENOSYS under ThreadSanitizer, which knows descriptors by number alone: it stays shared then. */
int fds_own_table(const int *keep, int n);

/* Moves a descriptor to the lowest free number. Returns the number it has now. */
int fds_lower(int fd);

#endif
