/* SPDX-License-Identifier: Apache-2.0 */

#include "CResolver.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

void kalends_bound_look_ups(int seconds)
{
    /* What getaddrinfo uses on this thread. */
    if (res_init() != 0) return;
    /* Otherwise it would take what it knows of the file again. */
    _res.options |= RES_NORELOAD;
    if (_res.retrans > seconds) _res.retrans = seconds;
    if (_res.retry > 2) _res.retry = 2;
}

int kalends_ask_dns(
    const char *name, int type, const char *server, uint16_t port, int seconds, uint8_t *answer, int capacity)
{
    struct __res_state state;
    int length;

    memset(&state, 0, sizeof(state));
    if (res_ninit(&state) != 0) return -1;
    state.retrans = seconds;
    state.retry = 2;
    if (server != NULL) {
        struct sockaddr_in address;

        memset(&address, 0, sizeof(address));
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        if (inet_pton(AF_INET, server, &address.sin_addr) != 1) {
            res_nclose(&state);
            return -1;
        }
        state.nsaddr_list[0] = address;
        state.nscount = 1;
    }
    length = res_nquery(&state, name, C_IN, type, answer, capacity);
    if (length < 0) length = state.res_h_errno == HOST_NOT_FOUND || state.res_h_errno == NO_DATA ? 0 : -1;
    /* An answer that was cut off says how long it was. */
    if (length > capacity) length = capacity;
    res_nclose(&state);
    return length;
}
