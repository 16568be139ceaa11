// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import KalendsCompanion
import Testing

/// The server of `Servers/misbehaving.py`, which runs as long as this value exists.
final class LocalServer {
    let port: Int
    private let process = Process()
    private let input = Pipe()
    private let lines: LineReader

    init() throws {
        let output = Pipe()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Servers/misbehaving.py")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [ProcessInfo.processInfo.environment["KALENDS_PYTHON"] ?? "python3", "-B", script.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        lines = LineReader(output.fileHandleForReading)
        port = try #require(try lines.next()["port"]?.integer)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    func address(_ path: String) throws -> ServerAddress { try ServerAddress("http://127.0.0.1:\(port)\(path)") }

    /// Sets what `/say/<name>` answers from now on.
    func reply(_ name: String, _ answer: JSONValue) throws {
        let line = JSONValue.object([ByteString(name): .string(try answer.text())])
        input.fileHandleForWriting.write(Data(try line.serialized() + [10]))
        while try lines.next(keeping: true)["ready"] == nil {}
    }

    /// Returns the requests that arrived, oldest first, each only once.
    func requests(_ count: Int) throws -> [JSONValue] { try (0..<count).map { _ in try lines.request() } }
}

/// Reads lines of JSON from another process.
private final class LineReader {
    private let handle: FileHandle
    private var rest: [UInt8] = []
    private var kept: [JSONValue] = []

    init(_ handle: FileHandle) { self.handle = handle }

    func request() throws -> JSONValue { kept.isEmpty ? try next() : kept.removeFirst() }

    /// - Parameter keeping: whether requests are kept for `request()`.
    func next(keeping: Bool = false) throws -> JSONValue {
        while true {
            if let end = rest.firstIndex(of: 10) {
                let line = try JSONValue(parsing: rest[..<end])
                rest.removeSubrange(...end)
                if keeping, line["method"] != nil { kept.append(line) }
                return line
            }
            let data = handle.availableData
            try #require(!data.isEmpty, "The server of the tests ended.")
            rest += data
        }
    }
}
