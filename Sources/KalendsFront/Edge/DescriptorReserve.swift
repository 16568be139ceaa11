// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Descriptors that are kept for the moment when the system has none left for this process.
///
/// Some code below the server cannot handle a shortage: libdispatch ends the program when it cannot open its threads'
/// files in /proc. While connections wait, the reserve is released so that such a file can be opened.
final class DescriptorReserve: Sendable {
    /// Descriptors belong to the process, so there is one reserve for it.
    static let shared = DescriptorReserve(8)

    private struct State {
        var held: [CInt] = []
        var isReleased = false

        mutating func close() {
            for descriptor in held { _ = Glibc.close(descriptor) }
            held = []
        }
    }

    private let count: Int
    private let state = Mutex(State())

    init(_ count: Int) {
        self.count = count
        _ = fill()
    }

    /// Whether the reserve is released, so that no connection may use a descriptor from it.
    var isReleased: Bool { state.withLock(\.isReleased) }

    /// Takes all descriptors again.
    ///
    /// - Returns: false when there are too few; then none is taken.
    func fill() -> Bool {
        state.withLock { state in
            while state.held.count < count {
                let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else {
                    state.close()
                    return false
                }
                state.held.append(descriptor)
            }
            state.isReleased = false
            return true
        }
    }

    func release() {
        state.withLock { state in
            state.close()
            state.isReleased = true
        }
    }
}
