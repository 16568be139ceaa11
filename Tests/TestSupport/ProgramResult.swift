// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The result of a program that ran to its end.
package struct ProgramResult: Sendable {
    /// The exit status, or the number of the signal that ended it.
    package var status: Int32
    package var output: String
    package var error: String
}

/// The environment that programs inherit: the server reads every variable that begins with `KALENDS_` as a setting.
package let plainEnvironment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("KALENDS_") }

/// Runs a program to its end.
///
/// - Parameters:
///   - environment: added to what the tests inherited.
///   - folder: where it runs, the tests' own unless said.
@discardableResult
package func runProgram(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], input: Data = Data(),
    in folder: URL? = nil
) async throws -> ProgramResult {
    // Files, not pipes: a program that writes much never waits for its reader.
    let base = FileManager.default.temporaryDirectory.appending(path: "run-\(UUID().uuidString)")
    let (out, err, inp) = (base.path + ".out", base.path + ".err", base.path + ".in")
    defer { for file in [out, err, inp] { try? FileManager.default.removeItem(atPath: file) } }
    for file in [out, err] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    _ = FileManager.default.createFile(atPath: inp, contents: input)
    let program = try SpawnedProgram(
        path, arguments, environment: plainEnvironment.merging(environment) { _, new in new }, in: folder?.path,
        input: inp, output: out, error: err)
    let status = await program.ended()
    func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }
    return ProgramResult(status: status, output: text(out), error: text(err))
}

/// Runs a program to its end with a text as its input.
@discardableResult
package func runProgram(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], input: String?, in folder: URL? = nil
) async throws -> ProgramResult {
    try await runProgram(path, arguments, environment: environment, input: Data((input ?? "").utf8), in: folder)
}

/// Makes an executable file.
///
/// Another process writes it: a process that is started at the same moment by another test holds what this one writes open
/// until it becomes its program, and the system starts no file that is open for writing (ETXTBSY).
package func makeScript(_ text: String, at path: String) async throws {
    let result = try await runProgram("/usr/bin/install", ["-m", "755", "/dev/stdin", path], input: text)
    guard result.status == 0 else { throw CocoaError(.fileWriteUnknown) }
}
