// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The processor time that `work` takes on this thread, which no neighbour on a busy machine makes longer.
func effort(_ work: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try work()
    return now() - start
}
