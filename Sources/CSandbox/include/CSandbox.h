// SPDX-License-Identifier: Apache-2.0
// What a process gives up before it looks at bytes that nobody trusts. C, because prctl, Landlock and namespaces have no
// other interface.
#ifndef KALENDS_CSANDBOX_H
#define KALENDS_CSANDBOX_H

#include <stddef.h>
#include <stdint.h>

/// How far the process was shut in; each is 0 or 1.
struct kalends_sandbox {
    int limits;
    int no_new_privileges;
    int no_files;
    int no_network;
    /// No program is started, no process made, no socket opened; threads may be started.
    int no_calls;
};

/// Takes limits on processor time (seconds) and address space (bytes), then rights away: no new privileges, no file
/// but for reading below `readable`, no network, no other process. What the kernel does not offer is left out, and said.
struct kalends_sandbox kalends_sandbox_enter(uint64_t processor_seconds, uint64_t address_space, const char *readable);

/// What this process can still do; each is 0 or 1.
struct kalends_reach {
    int reads_file;
    int makes_file;
    int connects;
    int forks;
    /// It may do this, because a thread is confined like the one that started it.
    int starts_threads;
};

/// Tries to read `file`, to make and remove `new_file`, to reach this machine's own address over TCP, to start a thread, and
/// to fork.
struct kalends_reach kalends_try_everything(const char *file, const char *new_file);

/// Gives a pipe room for 256 KiB where the system allows that, so that its writer waits less for its reader; does nothing to
/// anything else.
void kalends_widen_pipe(int descriptor);

/// Starts a program that has a file as its input, or without one (-1) a socket, an output, and no other descriptor of this
/// process; what it writes to its standard error is lost. Its signals are as they are in a new process. Returns its id, or -1
/// and errno; the caller closes its ends of the input, -1 for a file, and of the output.
int kalends_start(
    const char *path, char *const arguments[], char *const environment[], int file, int *input, int *output);

/// Like write(2) to such a socket; where nobody reads, it fails, and no signal ends this process.
long kalends_send(int socket, const void *bytes, size_t count);

/// A file in memory without a name, which the caller closes; -1 and errno when it cannot be made.
int kalends_memory_file(void);

/// Has the C library give memory back to the system: few arenas, and large blocks outside of them. Returns 1 when it took
/// every setting.
int kalends_settle_allocator(void);

/// Gives whole pages of freed memory back to the system when the resident memory has grown by so many bytes since the last
/// time, or cannot be known; returns 1 if any were given.
int kalends_return_memory(size_t grown);

/// The bytes that the program holds of the C library's allocator.
size_t kalends_allocated_memory(void);

/// Whether the kernel says that a time server keeps its clock (adjtimex(2)): 1, or 0.
int kalends_is_clock_synchronized(void);

#endif
