// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc
import Synchronization

/// A program beside the tests whose input stays open as long as a test wants, and whose output is read as it arrives.
package final class ConversingProgram: Sendable {
    package struct Failure: Error {
        package var message: String
    }

    private final class Received: Sendable {
        let state = Mutex<(bytes: [UInt8], isWhole: Bool)>(([], false))
    }

    private let program: SpawnedProgram
    private let folder: URL
    /// The writing end of the program's input.
    private let pipe: Int32
    /// The output, which outlives this value: the thread that fills it ends with the program, and the program with its
    /// owner.
    private let received = Received()
    package var processIdentifier: Int32 { program.processIdentifier }

    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = plainEnvironment, in folder: URL? = nil
    ) throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        let (input, output) = (self.folder.appending(path: "in").path, self.folder.appending(path: "out").path)
        let log = self.folder.appending(path: "err").path
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        // Pipes with names: a program that may write no file can still answer.
        for name in [input, output] {
            guard unsafe mkfifo(name, 0o600) == 0 else { throw Failure(message: "No pipe for \(path).") }
        }
        // Its input is opened for both ways here, so that neither end waits for the other, and then for one way, so that
        // the end of it is heard. Its output has a reader before it has a writer.
        let both = unsafe Glibc.open(input, O_RDWR | O_CLOEXEC)
        defer { close(both) }
        let reader = unsafe Glibc.open(output, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        program = try SpawnedProgram(
            path, arguments, environment: environment, in: folder?.path, input: input, output: output, error: log)
        pipe = unsafe Glibc.open(input, O_WRONLY | O_CLOEXEC)
        _ = fcntl(reader, F_SETFL, 0)
        Thread.detachNewThread { [received] in
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(reader, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                received.state.withLock { $0.bytes += chunk[..<count] }
            }
            close(reader)
            received.state.withLock { $0.isWhole = true }
        }
    }

    deinit {
        if program.isRunning { kill(program.processIdentifier, SIGKILL) }
        close(pipe)
        try? FileManager.default.removeItem(at: folder)
    }

    /// The output so far.
    package var output: String { String(decoding: received.state.withLock { $0.bytes }, as: UTF8.self) }
    package var error: String {
        let log = FileManager.default.contents(atPath: folder.appending(path: "err").path)
        return String(decoding: log ?? Data(), as: UTF8.self)
    }

    /// Returns the first line of the output without its end; throws with the program's error output when no line comes
    /// within ten minutes, or none can come any more.
    package func firstLine() async throws -> String {
        for _ in 0..<24_000 {
            let text = output
            if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
            if received.state.withLock({ $0.isWhole }), !output.contains("\n") { break }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Failure(message: "No line was written: \(error)")
    }

    /// Writes all of the input, closes it, and waits for the program's end.
    package func finish(_ input: String = "") async throws -> ProgramResult {
        try FileHandle(fileDescriptor: pipe, closeOnDealloc: false).write(contentsOf: Data(input.utf8))
        // Nothing is left to write: the descriptor stays this object's, and is one of /dev/null from here on.
        let nothing = unsafe Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        // The copy is inherited by no program: those that tests start close all that is not theirs.
        dup2(nothing, pipe)
        close(nothing)
        let status = await program.ended()
        while !received.state.withLock({ $0.isWhole }) { try await Task.sleep(for: .milliseconds(10)) }
        return ProgramResult(status: status, output: output, error: error)
    }
}
