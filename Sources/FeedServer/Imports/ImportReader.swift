// SPDX-License-Identifier: Apache-2.0

import CSandbox
import FoundationEssentials
import Glibc
import HTTPTypes
import Subprocess
import SystemPackage

/// Has files read by processes of their own, whose death is an answer and never the server's.
actor ImportReader {
    /// As many at once as are worth it; who comes later waits.
    private static let places = 2

    private let executable: String
    private let limit: Int
    private var free = ImportReader.places
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ settings: ServerSettings) {
        executable = settings.readWorker
        limit = settings.maxImportBytes
    }

    /// Reads a file; throws 422 with a sentence when nothing in it can be imported or reading it went beyond the limits.
    ///
    /// - Parameter charset: as the file's Content-Type names it.
    func read(_ bytes: [UInt8], assumedTimeZone: String, charset: String? = nil) async throws -> ImportSource {
        await enter()
        defer { leave() }
        let limits = Limits(bytes.count)
        var arguments = [
            "read-worker", "--assumed-time-zone", assumedTimeZone, "--limit", String(limit), "--processor-seconds",
            String(limits.processorSeconds), "--address-space", String(limits.addressSpace),
        ]
        if let charset { arguments.append("--charset=\(charset)") }
        if (try? UTF8Span(validating: bytes.span)) == nil { arguments.append("--is-foreign") }
        let chosen = arguments
        let executable = executable
        let output = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { try await Self.run(executable, chosen, bytes, limits) }
            group.addTask {
                try await Task.sleep(for: .seconds(limits.processorSeconds * 2 + 5))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let output else { throw Self.beyondLimits }
        switch try JSONDecoder().decode(WorkerAnswer.self, from: Data(output)) {
        case .source(let source): return source
        case .refused(let detail, let faults):
            throw Refusal(
                status: .unprocessableContent, detail: detail,
                faults: faults.map { Fault(pointer: $0.pointer, message: $0.message) })
        }
    }

    /// What a reading process keeps on this machine although it should not; empty when it is shut in well.
    static func confinement(_ settings: ServerSettings) async throws -> [String] {
        let result = try await Subprocess.run(
            .path(FilePath(settings.readWorker)),
            arguments: [
                "read-worker", "--assumed-time-zone", "UTC", "--limit", "1", "--processor-seconds", "5",
                "--address-space", "900000000", "--try-to-read", settings.database,
            ], output: .string(limit: 4096), error: .discarded)
        guard case .exited(0) = result.terminationStatus,
            let after = result.standardOutput.split(separator: "\n").first(where: { $0.hasPrefix("after:") })
        else { return ["unusable"] }
        let rights = ["reads": "files", "writes": "new files", "connects": "the network", "forks": "children"]
        return after.split(separator: " ").filter { $0.hasSuffix("=1") }
            .compactMap { rights[String($0.dropLast(2))] }.sorted()
    }

    /// Scaled with the file: what an ordinary one takes, several times over.
    private struct Limits {
        let processorSeconds: UInt64
        let addressSpace: UInt64
        let output: Int

        init(_ size: Int) {
            let mebibytes = UInt64(size >> 20)
            #if DEBUG
            // Unoptimised code takes about ten times as long.
            processorSeconds = 30 + 20 * mebibytes
            #else
            processorSeconds = 2 + 2 * mebibytes
            #endif
            addressSpace = 768 << 20 + UInt64(size) * 32
            output = 16 << 20 + size * 16
        }
    }

    private static let beyondLimits = Refusal(
        status: .unprocessableContent,
        detail: "The file could not be read within the limits on time and memory; a part of it may be read alone.")

    /// What the process wrote; nil when it died of its limits or of the file.
    private static func run(
        _ executable: String, _ arguments: [String], _ bytes: [UInt8], _ limits: Limits
    ) async throws -> [UInt8]? {
        // Nothing of the server's environment goes along, where a key may stand; only where libraries and zones are.
        var environment: [Environment.Key: String] = [:]
        let own = ProcessInfo.processInfo.environment
        environment["LD_LIBRARY_PATH"] = own["LD_LIBRARY_PATH"]
        environment["TZDIR"] = own["TZDIR"]
        let input = try memoryFile(bytes)
        let result = try await Subprocess.run(
            .path(FilePath(executable)), arguments: Arguments(arguments), environment: .custom(environment),
            input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .bytes(limit: limits.output),
            error: .discarded)
        guard case .exited(0) = result.terminationStatus else {
            if case .exited(let status) = result.terminationStatus, status == 70 || status == 64 {
                throw Refusal(status: .internalServerError, detail: "Files cannot be read safely on this machine.")
            }
            return nil
        }
        return result.standardOutput
    }

    /// A file without a name that holds the bytes: unlike a pipe it does not care whether it is read to its end.
    private static func memoryFile(_ bytes: [UInt8]) throws -> FileDescriptor {
        let raw = kalends_memory_file()
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        let file = FileDescriptor(rawValue: raw)
        do {
            _ = try file.writeAll(bytes)
            _ = try file.seek(offset: 0, from: FileDescriptor.SeekOrigin.start)
            return file
        } catch {
            try? file.close()
            throw error
        }
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
