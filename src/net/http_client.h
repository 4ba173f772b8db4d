/* SPDX-License-Identifier: MIT */
/* The client's half of HTTP/1.1, for http.c (protocol.h says what the two do). */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include "net/protocol.h"

/* What our server says behind the status, up to the number. */
#define HTTP_FIELDS "\r\nServer: iodash\r\nContent-Type: text/plain\r\nContent-Length: "

size_t http_ask(struct proto_check *c, uint64_t sequence, uint64_t size, uint8_t *buf);
int http_check(struct proto_check *c, const uint8_t *in, size_t n);
void http_wrong(const struct proto_check *c, char *buf, size_t size);

#endif
