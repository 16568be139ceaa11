// SPDX-License-Identifier: Apache-2.0

import CSandbox
import FoundationEssentials
import Glibc
import Synchronization

/// A process of this program for work without rights: it has its arguments, one input and one output.
final class WorkerProcess: Sendable {
    enum End: Hashable {
        case exited(Int32)
        case killed
    }

    /// A refusal of the system, with its error number.
    struct Failure: Error {
        let code: CInt
    }

    /// The process's id, until it has ended and was waited for.
    private let process: Mutex<pid_t?>
    private let output: CInt
    /// The end of a socket from which the process reads; nil if it reads a file.
    private let input: CInt?

    /// Starts the process.
    ///
    /// - Parameter file: a descriptor of its input; nil for an input that `write` fills.
    init(_ executable: String, _ arguments: [String], reading file: CInt? = nil) throws(Failure) {
        var (input, output): (CInt, CInt) = (-1, -1)
        let started = unsafe Self.withPointers([executable] + arguments) { arguments in
            unsafe Self.withPointers(Self.environment) { variables in
                unsafe kalends_start(executable, arguments, variables, file ?? -1, &input, &output)
            }
        }
        guard started >= 0 else { throw Failure(code: errno) }
        process = Mutex(started)
        self.output = output
        self.input = input < 0 ? nil : input
    }

    deinit {
        kill()
        _ = wait()
        close(output)
        if let input { close(input) }
    }

    /// Passes on what the process writes until it ends, on a thread of its own; the process is ended when the task is
    /// cancelled, or when `take` throws, whose error is rethrown.
    func run<Value: Sendable>(
        into value: Value, _ take: @escaping @Sendable (inout Value, [UInt8]) throws -> Void
    ) async throws -> (Value, End) {
        try await withTaskCancellationHandler {
            try await onThread { [self] in
                var value = value
                do {
                    while let bytes = read() { try take(&value, bytes) }
                } catch {
                    kill()
                    _ = wait()
                    throw error
                }
                return (value, wait())
            }
        } onCancel: {
            kill()
        }
    }

    /// Writes to the process's input; throws when it does not read any more.
    func write(_ bytes: [UInt8]) async throws {
        guard let input else { return }
        try await onThread {
            var count = 0
            while count < bytes.count {
                let sent = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe kalends_send(input, bytes.baseAddress.map { unsafe $0 + count }, bytes.count - count)
                }
                if sent > 0 { count += sent } else if errno != EINTR { throw Failure(code: errno) }
            }
        }
    }

    /// Ends the input: the process reads no more.
    func endInput() { if let input { shutdown(input, CInt(SHUT_WR)) } }

    /// Ends the process, if it has not ended by itself.
    func kill() {
        process.withLock { process in
            if let process { _ = Glibc.kill(process, SIGKILL) }
        }
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let thread = SystemThread()
        defer { thread.join() }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try thread.start { continuation.resume(with: Result(catching: work)) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// The next bytes of the output; nil at its end.
    private func read() -> [UInt8]? {
        while true {
            var status = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                status = unsafe Glibc.read(output, buffer.baseAddress, buffer.count)
                count = max(status, 0)
            }
            if status > 0 { return bytes }
            if status == 0 || errno != EINTR { return nil }
        }
    }

    /// Waits for the process's end. Its id may belong to another process afterwards, so it is forgotten in the same step.
    private func wait() -> End {
        guard let id = process.withLock(\.self) else { return .killed }
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return process.withLock { process in
            guard process != nil else { return .killed }
            process = nil
            var status: CInt = 0
            guard unsafe waitpid(id, &status, 0) == id, status & 0x7f == 0 else { return .killed }
            return .exited(status >> 8 & 0xff)
        }
    }

    /// Calls a body with the texts as C has them: pointers to bytes that end with 0, and after the last one a null pointer.
    private static func withPointers<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Value
    ) -> Value {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { while let pointer = unsafe pointers.popLast() { unsafe free(pointer) } }
        return unsafe pointers.withUnsafeBufferPointer { texts in
            unsafe body(texts.baseAddress)
        }
    }

    /// The environment of such processes: the server's may contain a key, so only the paths of libraries and time zones
    /// are passed on.
    private static let environment: [String] = {
        var names: Set<ByteString> = ["LD_LIBRARY_PATH", "TZDIR"]
        #if DEBUG || SANITIZED
        // A sanitizer takes its settings from the environment of each process.
        names.formUnion(["LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"])
        #endif
        return ProcessInfo.processInfo.environment.compactMap { name, value in
            names.contains(ByteString(name)) ? "\(name)=\(value)" : nil
        }
    }()
}
