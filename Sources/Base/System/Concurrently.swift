// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
/// Calls a body with each number below a count, each call on a thread of its own, and returns when every call has returned.
///
/// The calling thread runs one call itself, plus any for which no thread could be started. Dispatch, which offers the same,
/// looks up its threads in /proc every second and ends a process that may not read there.
package func concurrently(_ count: Int, _ body: (Int) -> Void) {
    withoutActuallyEscaping(body) { body in
        let shared = SharedBody(body)
        let own = (1..<max(count, 1)).map { number -> SystemThread? in
            let thread = SystemThread()
            do {
                try thread.start { shared.body(number) }
            } catch {
                return nil
            }
            return thread
        }
        if count > 0 { body(0) }
        for (index, thread) in own.enumerated() where thread == nil { body(index + 1) }
        for thread in own { thread?.join() }
    }
}

/// A body that several threads call at once.
private final class SharedBody: @unchecked Sendable {
    // Whoever passes the body promises that it may be called so, as for Dispatch's `concurrentPerform`.
    let body: (Int) -> Void

    init(_ body: @escaping (Int) -> Void) { self.body = body }
}
#else
internal import Dispatch

/// Calls a body with each number below a count, several at once, and returns when every call has returned.
package func concurrently(_ count: Int, _ body: (Int) -> Void) {
    DispatchQueue.concurrentPerform(iterations: count, execute: body)
}
#endif
