// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <malloc.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// A sanitizer's notes on memory take terabytes of addresses, and it has an allocator of its own.
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif
#if __has_feature(address_sanitizer)
// Swift packs pointers with other bits, so what such a value refers to looks like a leak. The fuzzers, which use less of
// Swift's libraries, look for leaks; and a confined process could not start the thread that does.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

static int limit(int resource, rlim_t value) {
    struct rlimit both = {value, value};
    return setrlimit(resource, &both) == 0;
}

// Every right on files that version 1 of Landlock knows; later ones are asked for only where they are known.
static int forbid_files(const char *readable) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return 0;
    struct landlock_ruleset_attr rules = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
    if (ruleset < 0) return 0;
    struct landlock_path_beneath_attr allowed = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        .parent_fd = open(readable, O_PATH | O_CLOEXEC),
    };
    if (allowed.parent_fd >= 0) {
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &allowed, 0);
        close(allowed.parent_fd);
    }
    int done = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return done;
}

// What the C library asks for when it starts a thread, whose confinement is that of the thread that starts it.
#define THREAD                                                                                                         \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | \
     CLONE_CHILD_CLEARTID)

// No program is started and no process made, and no socket: a limit on processes does not bind who runs as root. The flags
// of clone3 are in memory, where a filter cannot read them; where that call is not known, the C library makes the other.
static int forbid_calls(void) {
#if defined(__x86_64__)
    const unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const unsigned machine = AUDIT_ARCH_AARCH64;
#else
    return 0;
#endif
#define ANSWER(call, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define FORBID(call) ANSWER(call, EPERM)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        // Another machine's calls have other numbers: none of them is allowed.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
        // The calls of x32 have this machine's architecture and other numbers.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
        ANSWER(SYS_clone3, ENOSYS),
#ifdef SYS_fork
        FORBID(SYS_fork),
        FORBID(SYS_vfork),
#endif
        FORBID(SYS_execve),
        FORBID(SYS_execveat),
        FORBID(SYS_socket),
        FORBID(SYS_ptrace),
        FORBID(SYS_process_vm_readv),
        FORBID(SYS_io_uring_setup),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        // The lower half of the first argument; the kernel ignores the other one.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
#undef FORBID
#undef ANSWER
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct kalends_sandbox kalends_sandbox_enter(uint64_t processor_seconds, uint64_t address_space, const char *readable) {
    struct kalends_sandbox state = {0, 0, 0, 0, 0};
    state.limits = limit(RLIMIT_CORE, 0) & limit(RLIMIT_FSIZE, 0) & limit(RLIMIT_NOFILE, 16) &
                   limit(RLIMIT_CPU, processor_seconds);
    if (!IS_SANITIZED) state.limits &= limit(RLIMIT_AS, address_space);
    // A network of its own has no way out. Without the right to make one, the files and limits still hold.
    state.no_network = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    state.no_new_privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    // Whoever polls a feed comes first.
    setpriority(PRIO_PROCESS, 0, 10);
    // A server that is killed leaves no reader behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (state.no_new_privileges) state.no_files = forbid_files(readable);
    if (state.no_new_privileges) state.no_calls = forbid_calls();
    // This limit counts threads too, so that the file is read by one where nothing else prevents another process.
    if (!state.no_calls) limit(RLIMIT_NPROC, 0);
    return state;
}

static void *nothing(void *argument) { return argument; }

struct kalends_reach kalends_try_everything(const char *file, const char *new_file) {
    struct kalends_reach reach = {0, 0, 0, 0, 0};
    int opened = open(file, O_RDONLY | O_CLOEXEC);
    reach.reads_file = opened >= 0;
    if (opened >= 0) close(opened);
    int made = open(new_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    reach.makes_file = made >= 0;
    if (made >= 0) {
        close(made);
        unlink(new_file);
    }
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection >= 0) {
        // Nobody listens on port 1; a refusal comes from the network all the same.
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(1)};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        reach.connects = connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == ECONNREFUSED;
        close(connection);
    }
    pthread_t thread;
    reach.starts_threads = pthread_create(&thread, NULL, nothing, NULL) == 0;
    if (reach.starts_threads) pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) _exit(0);
    reach.forks = child > 0;
    if (child > 0) waitpid(child, NULL, 0);
    return reach;
}

void kalends_widen_pipe(int descriptor) { (void)fcntl(descriptor, F_SETPIPE_SZ, 256 << 10); }

static int spawn(pid_t *process, const char *path, char *const arguments[], char *const environment[], int input, int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&files, input, 0);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&files, output, 1);
        if (error == 0) error = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
        sigemptyset(&signals);
        if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &signals);
        if (error == 0) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (error == 0) error = posix_spawn(process, path, &files, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int kalends_start(
    const char *path, char *const arguments[], char *const environment[], int file, int *input, int *output) {
    // Unlike a pipe, a socket without a reader sends its writer no signal (MSG_NOSIGNAL).
    int sockets[2] = {-1, file};
    int pipes[2];
    pid_t process = -1;
    if (file < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return -1;
    int error = pipe2(pipes, O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        error = spawn(&process, path, arguments, environment, sockets[1], pipes[1]);
        close(pipes[1]);
        if (error != 0) close(pipes[0]);
    }
    if (file < 0) close(sockets[1]);
    if (error != 0) {
        if (file < 0) close(sockets[0]);
        errno = error;
        return -1;
    }
    *input = sockets[0];
    *output = pipes[0];
    return process;
}

long kalends_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, MSG_NOSIGNAL); }

int kalends_memory_file(void) { return memfd_create("kalends-input", MFD_CLOEXEC); }

int kalends_settle_allocator(void) {
    if (IS_SANITIZED) return 1;
    return mallopt(M_ARENA_MAX, 2) == 1 && mallopt(M_MMAP_THRESHOLD, 64 << 10) == 1 &&
           mallopt(M_TRIM_THRESHOLD, 4 << 20) == 1;
}

static size_t resident_memory(void) {
    char text[128] = {0};
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    // All pages, then the resident ones.
    char *rest = text;
    strtoul(text, &rest, 10);
    return count > 0 ? strtoul(rest, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

int kalends_return_memory(size_t grown) {
    static _Atomic size_t left;
    size_t resident = resident_memory();
    if (resident < left) left = resident;
    if (resident != 0 && resident - left < grown) return 0;
    int result = malloc_trim(0);
    left = resident_memory();
    return result;
}

size_t kalends_allocated_memory(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int kalends_is_clock_synchronized(void) {
    // Nothing is changed without modes.
    struct timex state = {0};
    int result = adjtimex(&state);
    return result >= 0 && result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
