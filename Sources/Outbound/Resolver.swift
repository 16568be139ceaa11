// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOPosix
internal import Synchronization

/// Finds the addresses of a host.
package protocol Resolver: Sendable {
    /// Returns all addresses of a name, in the order in which to try them; empty when it has none.
    func addresses(of name: String) async throws -> [IPAddress]
}

/// The system's own resolver, run on separate threads: it blocks for as long as a name server takes.
package struct SystemResolver: Resolver {
    /// A few threads that are used for nothing else: slow names delay only other look-ups.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    package func addresses(of name: String) async throws -> [IPAddress] {
        let answer = Answer()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answer.wait(continuation)
                Self.threads.submit { _ in answer.give(.success(Self.lookUp(name))) }
            }
        } onCancel: {
            // The thread keeps running until the name server answers or times out; nobody waits for it.
            answer.give(.failure(CancellationError()))
        }
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        // The list belongs to getaddrinfo and is valid until it is freed above; each address is as long as its family
        // says.
        while let entry = unsafe next {
            // In sockaddr_in the address is at byte 4, in sockaddr_in6 at byte 8 (RFC 3493 section 3.3).
            let range: Range<Int>? =
                switch unsafe entry.pointee.ai_family {
                case AF_INET: 4..<8
                case AF_INET6: 8..<24
                default: nil
                }
            if let address = unsafe entry.pointee.ai_addr, let range {
                let bytes = unsafe UnsafeRawBufferPointer(
                    start: UnsafeRawPointer(address) + range.lowerBound, count: range.count)
                found.append(IPAddress(bytes: unsafe Array(bytes)))
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    /// Takes the first of an answer and a cancellation.
    private final class Answer: Sendable {
        private enum State {
            case open
            case waited(CheckedContinuation<[IPAddress], any Error>)
            case given(Result<[IPAddress], any Error>)
        }

        private let state = Mutex(State.open)

        func wait(_ continuation: CheckedContinuation<[IPAddress], any Error>) {
            let early: Result<[IPAddress], any Error>? = state.withLock { state in
                if case .given(let result) = state { return result }
                state = .waited(continuation)
                return nil
            }
            if let early { continuation.resume(with: early) }
        }

        func give(_ result: Result<[IPAddress], any Error>) {
            let waiting: CheckedContinuation<[IPAddress], any Error>? = state.withLock { state in
                defer { if case .given = state {} else { state = .given(result) } }
                if case .waited(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume(with: result)
        }
    }

    package init() {}
}
