// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns the processor time that `work` takes on this thread, which other work on the machine does not make longer.
package func effort(_ work: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try work()
    return now() - start
}

/// Keeps the C library from returning large blocks to the kernel, whose time for fresh pages would be counted too.
package let keepsMemory: Bool = {
    guard let symbol = unsafe dlsym(nil, "mallopt") else { return false }
    let mallopt = unsafe unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
    let (trimThreshold, mapThreshold): (CInt, CInt) = (-1, -3)
    return mallopt(trimThreshold, .max) == 1 && mallopt(mapThreshold, 1 << 30) == 1
}()
