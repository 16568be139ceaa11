// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CSandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

struct kalends_sandbox kalends_sandbox_enter(uint64_t processor_seconds, uint64_t address_space, const char *readable) {
    struct kalends_sandbox state = {0, 0, 0, 0};
    state.limits = limit(RLIMIT_CORE, 0) & limit(RLIMIT_FSIZE, 0) & limit(RLIMIT_NOFILE, 16) &
                   limit(RLIMIT_CPU, processor_seconds) & limit(RLIMIT_AS, address_space);
    // A network of its own has no way out. Without the right to make one, the files and limits still hold.
    state.no_network = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    state.no_new_privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    // A server that is killed leaves no reader behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (state.no_new_privileges) state.no_files = forbid_files(readable);
    limit(RLIMIT_NPROC, 0);
    return state;
}

int kalends_memory_file(void) { return memfd_create("kalends-input", MFD_CLOEXEC); }
