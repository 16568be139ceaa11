/* SPDX-License-Identifier: Apache-2.0 */

#ifndef C_RESOLVER_H
#define C_RESOLVER_H

#include <stdint.h>

/*
 * Asks name servers for the records of one type that a name has (RFC 1035), as the system is set up to ask, without its
 * search list. Blocks: a server that does not answer is given up after `seconds`, and asked once more.
 *
 * server: an IPv4 address and its port in place of the system's servers; NULL for those of the system.
 * answer: takes the message.
 *
 * Returns the length of the message, 0 when the name has no such record, and -1 when nobody could say.
 */
int kalends_ask_dns(
    const char *name, int type, const char *server, uint16_t port, int seconds, uint8_t *answer, int capacity);

/*
 * Bounds how long getaddrinfo waits on the calling thread: each name server is given up after `seconds`, and asked once
 * more, unless the system is set up to wait for less. Reads again how the system is set up.
 */
void kalends_bound_look_ups(int seconds);

#endif
