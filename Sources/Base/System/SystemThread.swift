// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
internal import Synchronization

/// A system thread, for work that waits for the disk: it would block one of the few threads that tasks share.
package final class SystemThread: Sendable {
    /// The system could not start another thread.
    package struct Failure: Error {}

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread = Mutex<pthread_t?>(nil)

    package init() {}

    /// Starts the thread; may be called only once.
    package func start(_ body: @escaping @Sendable () -> Void) throws(Failure) {
        // The thread receives one reference and releases it.
        let work = unsafe Unmanaged.passRetained(Work(body))
        var started = pthread_t()
        let code = unsafe pthread_create(
            &started, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            unsafe work.release()
            throw Failure()
        }
        let new = started
        thread.withLock { $0 = new }
    }

    /// Suspends the calling thread, which must be a `SystemThread`, for this time; a signal may end it earlier.
    package static func sleep(for time: Duration) {
        let (seconds, attoseconds) = time.components
        _ = usleep(UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    /// The processor time that the calling thread has used.
    package static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Has the system prefer other threads to the calling one where processors are scarce.
    package static func letOthersFirst() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }

    /// Waits until the thread has ended; a second call returns at once.
    package func join() {
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let ended { _ = pthread_join(ended, nil) }
    }
}

/// A counting semaphore on which one thread waits.
@safe
package final class Semaphore: @unchecked Sendable {
    // Allocated once, so that its address never changes; the system's own calls synchronize access to it.
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        unsafe semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    package func signal() { unsafe sem_post(semaphore) }

    package func wait() { while unsafe sem_wait(semaphore) != 0 {} }
}
#endif
