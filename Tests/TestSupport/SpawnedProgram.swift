// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Glibc
import Synchronization

/// A program that runs beside the tests, with files for its input and output.
///
/// Foundation's `Process` is not used for the many programs of these tests: its start closes every number up to the
/// highest open file, each by an action of its own, and with a thousand open files it has read beyond its list.
package final class SpawnedProgram: Sendable {
    package struct Failure: Error {
        package var path: String
        package var code: Int32
    }

    private struct State {
        var status: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    // The C library has both (2.34 and later) and does not show them to Swift; the types are those of its manual.
    private static let changeFolder = unsafe unsafeBitCast(
        dlsym(nil, "posix_spawn_file_actions_addchdir_np"),
        to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> CInt).self)
    private static let closeFrom = unsafe unsafeBitCast(
        dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
        to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)

    package let processIdentifier: pid_t
    private let state: Mutex<State>

    /// Starts the program in its own process group.
    ///
    /// - Parameters:
    ///   - input: a file to read, `/dev/null` for nothing.
    ///   - output: an existing file; what is written is appended.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String], in folder: String?, input: String,
        output: String, error: String
    ) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        let words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        // Everything that was made for the call is given back after it; the system has copied it.
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
            let copies = unsafe words + variables
            for index in 0..<(unsafe copies.count) { unsafe free(copies[index]) }
        }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_APPEND, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, error, O_WRONLY | O_APPEND, 0)
        if let folder { _ = unsafe Self.changeFolder(&actions, folder) }
        _ = unsafe Self.closeFrom(&actions, 3)
        // The runtime's threads hold signals back, and a program that inherits that would not hear SIGTERM.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        let code = unsafe posix_spawn(&process, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw Failure(path: path, code: code) }
        processIdentifier = process
        state = Mutex(State())
        Thread.detachNewThread { [self] in
            var raw: Int32 = 0
            while unsafe waitpid(processIdentifier, &raw, 0) < 0, errno == EINTR {}
            // As Foundation has it: the exit's status, or the number of the signal.
            let status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : raw & 0x7F
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.status = status
                return state.waiting
            }
            for continuation in waiting { continuation.resume(returning: status) }
        }
    }

    package var isRunning: Bool { state.withLock { $0.status == nil } }

    /// Waits for the exit status, or the number of the signal that ended it.
    package func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Int32? in
                if state.status == nil { state.waiting.append(continuation) }
                return state.status
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Like `ended`, for callers that cannot wait asynchronously.
    package func waitUntilExit() -> Int32 {
        while true {
            if let status = state.withLock({ $0.status }) { return status }
            usleep(2000)
        }
    }
}
