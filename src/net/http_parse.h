/* SPDX-License-Identifier: MIT */
/* The head of an HTTP/1.x request, read by the letter of RFC 9110 and RFC 9112. A pure function of
 * its bytes: no state, no memory, no look past the end. Thread: any. */
#ifndef NET_HTTP_PARSE_H
#define NET_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HTTP_HEAD_MAX 8192   /* bytes of request line and fields together */
#define HTTP_TARGET_MAX 2048 /* of the request target */
#define HTTP_FIELDS_MAX 100

enum http_method { HTTP_OTHER, HTTP_GET, HTTP_HEAD, HTTP_POST };

struct http_request {
    enum http_method method;
    bool known;         /* HTTP_OTHER: a method of the standard all the same */
    int minor;          /* HTTP/1.minor */
    const char *path;   /* in the input: the target without scheme, host and query */
    size_t path_length;
    bool has_length;    /* Content-Length is there, ... */
    uint64_t length;    /* ... its value, UINT64_MAX when it is larger than that */
    bool keep_alive;    /* what the version and the Connection field ask for */
    bool expects;       /* Expect: 100-continue */
};

/* Returns the length of the head with its empty line; 0: it is not whole yet, and good so far; or
 * minus the status to refuse it with: -400 malformed, -411 a body without Content-Length, -414 the
 * target is too long, -417, -431 too many or too long fields, -501 an unknown method or transfer
 * coding, -405 a known one that is not served, -505. Never 0 from HTTP_HEAD_MAX bytes on. After an
 * error the method is set when it was read. */
ssize_t http_parse(const uint8_t *in, size_t n, struct http_request *out);

#endif
