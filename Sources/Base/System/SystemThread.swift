// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
internal import Synchronization

/// A thread of the system: work that waits for the disk has no place among the tasks, whose threads are few.
package final class SystemThread: Sendable {
    /// The system starts no more threads.
    package struct Failure: Error {}

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread = Mutex<pthread_t?>(nil)

    package init() {}

    /// Starts the thread; once.
    package func start(_ body: @escaping @Sendable () -> Void) throws(Failure) {
        // Given to the thread with one reference, which it takes over.
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

    /// Keeps the calling thread, which has to be one of these, for so long; less when a signal comes.
    package static func sleep(for time: Duration) {
        let (seconds, attoseconds) = time.components
        _ = usleep(UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    /// Waits until the thread has ended; a second call returns at once.
    package func join() {
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let ended { _ = pthread_join(ended, nil) }
    }
}

/// Counts signals that one thread waits for.
@safe
package final class Semaphore: @unchecked Sendable {
    // Allocated once, so that its address is the same for its whole life; the system's own calls synchronise on it.
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
