// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// A program beside the tests whose input is open as long as a test wants, and whose output is read as it comes.
package final class ConversingProgram: Sendable {
    package struct Failure: Error {
        package var message: String
    }

    private let program: SpawnedProgram
    private let folder: URL
    /// The writing end of the program's input.
    private let pipe: Int32
    package var processIdentifier: Int32 { program.processIdentifier }

    package init(
        _ path: String, _ arguments: [String], environment: [String: String] = plainEnvironment, in folder: URL? = nil
    ) throws {
        self.folder = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        let (input, output, error) = Self.files(self.folder)
        for file in [output, error] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        guard unsafe mkfifo(input, 0o600) == 0 else { throw Failure(message: "No pipe for \(path).") }
        // For both ways, so that neither end waits for the other here; for one way below, so that its end is heard.
        let both = unsafe Glibc.open(input, O_RDWR | O_CLOEXEC)
        defer { close(both) }
        program = try SpawnedProgram(
            path, arguments, environment: environment, in: folder?.path, input: input, output: output, error: error)
        pipe = unsafe Glibc.open(input, O_WRONLY | O_CLOEXEC)
    }

    deinit {
        if program.isRunning { kill(program.processIdentifier, SIGKILL) }
        close(pipe)
        try? FileManager.default.removeItem(at: folder)
    }

    private static func files(_ folder: URL) -> (input: String, output: String, error: String) {
        (folder.appending(path: "in").path, folder.appending(path: "out").path, folder.appending(path: "err").path)
    }

    private static func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }

    /// What it has written so far.
    package var output: String { Self.text(Self.files(folder).output) }
    package var error: String { Self.text(Self.files(folder).error) }

    /// The first line that it writes, without its end; a failure with what it complained of when there is none within a
    /// minute, or ever.
    package func firstLine() async throws -> String {
        for _ in 0..<2400 {
            let text = output
            if let end = text.firstIndex(of: "\n") { return String(text[..<end]) }
            if !program.isRunning, !output.contains("\n") { break }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Failure(message: "No line was written: \(error)")
    }

    /// Writes all of its input, ends that, and waits for the program's end.
    package func finish(_ input: String = "") async throws -> ProgramResult {
        try FileHandle(fileDescriptor: pipe, closeOnDealloc: false).write(contentsOf: Data(input.utf8))
        // Nothing is left to write: the descriptor stays this object's, and is one of /dev/null from here on.
        let nothing = unsafe Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        // The copy is inherited by no program: those that tests start close all that is not theirs.
        dup2(nothing, pipe)
        close(nothing)
        let status = await program.ended()
        return ProgramResult(status: status, output: output, error: error)
    }
}
