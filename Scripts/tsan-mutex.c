// SPDX-License-Identifier: Apache-2.0
//
// Tells the thread sanitizer what Swift's Mutex orders when threads wait for each other.
//
// Taking a free mutex is inlined into the program, where the sanitizer sees it. Waiting for one that is taken, and waking
// who waits, are in Swift's own library, which is not instrumented: without this, what one thread did with a mutex is a
// race with what the next one does. This library is loaded first, stands before the library's functions and calls them.
// Programs without the sanitizer, such as those that tests start, are left as they are.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// _MutexHandle._lockSlow(_:), ._tryLockSlow() and ._unlockSlow() (swift/stdlib/public/Synchronization/Mutex/LinuxImpl.swift).
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT bool tryLock(SELF mutex) __asm__(TRY_LOCK);
SWIFT void unlock(SELF mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF mutex) {
    SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLock(SELF mutex) {
    SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    bool isTaken = next(mutex);
    if (isTaken && __tsan_acquire) __tsan_acquire(mutex);
    return isTaken;
}

SWIFT void unlock(SELF mutex) {
    SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}
