// SPDX-License-Identifier: Apache-2.0
// What a process gives up before it looks at bytes that nobody trusts. C, because prctl, Landlock and namespaces have no
// other interface.
#ifndef KALENDS_CSANDBOX_H
#define KALENDS_CSANDBOX_H

#include <stdint.h>

/// How far the process was shut in; each is 0 or 1.
struct kalends_sandbox {
    int limits;
    int no_new_privileges;
    int no_files;
    int no_network;
};

/// Takes limits on processor time (seconds) and address space (bytes), then rights away: no new privileges, no file
/// but for reading below `readable`, no network. What the kernel does not offer is left out, and said.
struct kalends_sandbox kalends_sandbox_enter(uint64_t processor_seconds, uint64_t address_space, const char *readable);

/// A file in memory without a name, which the caller closes; -1 and errno when there is none.
int kalends_memory_file(void);

#endif
