// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Reads files in separate processes; if one dies, the file is refused, and the server goes on.
package actor ImportReader {
    /// The maximum number of processes at once; further files wait.
    private static let concurrencyLimit = 2

    private let executable: String
    private let limit: Int
    private var free = ImportReader.concurrencyLimit
    /// The senders who wait, in order of arrival, and the number of files being read for each sender.
    private var waiting: [(sender: Sender, turn: CheckedContinuation<Void, Never>)] = []
    private var running: [ByteString: Int] = [:]

    package init(_ settings: ServerSettings) {
        executable = settings.readWorker
        limit = settings.maxImportBytes
    }

    /// Reads a file; throws 422 with a sentence if nothing in it can be imported, or if reading it exceeded the limits.
    ///
    /// - Parameters:
    ///   - circle: the circle that it is imported into, whose zone applies to times that name none.
    ///   - progress: called now and then with the part that has been read, from 0 to 1.
    func read(
        _ upload: ImportUpload, in circle: Circle, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> ImportReading {
        let zone = try circle.zone
        guard let found = try await received(upload, circle.timeZone, [], zone, progress).reading() else {
            throw Self.beyondLimits
        }
        return found
    }

    /// Checks a file; throws 422 with a sentence if checking it exceeded the limits.
    func check(_ upload: ImportUpload) async throws -> FileCheck.Result {
        guard let found = try await received(upload, "UTC", ["--checks"], nil, { _ in }).checked() else {
            throw Self.beyondLimits
        }
        return found
    }

    /// Returns what a separate reading process reported about a file; throws if the process did not end by itself.
    private func received(
        _ upload: ImportUpload, _ assumedTimeZone: String, _ options: [String], _ zone: TimeZoneReference?,
        _ progress: @escaping @Sendable (Double) -> Void
    ) async throws -> ReceivedReading {
        let sender = upload.admission?.sender ?? .unknown
        await enter(sender)
        defer { leave(sender) }
        try Task.checkCancellation()
        let limits = Limits(upload.spool.count, checks: !options.isEmpty)
        var arguments =
            [
                "read-worker", "--assumed-time-zone", assumedTimeZone, "--limit", String(limit), "--processor-seconds",
                String(limits.processorSeconds), "--address-space", String(limits.addressSpace),
            ] + options
        if let charset = upload.charset { arguments.append("--charset=\(charset)") }
        if upload.isForeign { arguments.append("--is-foreign") }
        let chosen = arguments
        let executable = executable
        let reading = try await withThrowingTaskGroup(of: ReceivedReading?.self) { group in
            group.addTask { try await Self.run(executable, chosen, upload, limits, zone, progress) }
            group.addTask {
                try await Task.sleep(for: .seconds(limits.processorSeconds * 2 + 5))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        try Task.checkCancellation()
        guard let reading else { throw Self.beyondLimits }
        return reading
    }

    /// Returns what a reading process can still do on this machine although it should not; empty if it is confined
    /// properly.
    package static func confinement(_ settings: ServerSettings) async throws -> [String] {
        let process = try WorkerProcess(
            settings.readWorker,
            [
                "read-worker", "--assumed-time-zone", "UTC", "--limit", "1", "--processor-seconds", "5",
                "--address-space", "900000000", "--try-to-read", settings.database,
            ])
        process.endInput()
        let (output, end) = try await process.run(into: [UInt8]()) { output, bytes in
            output += bytes.prefix(4096 - output.count)
        }
        guard end == .exited(0),
            let after = String(decoding: output, as: UTF8.self).split(separator: "\n")
                .first(where: { $0.hasPrefix("after:") })
        else { return ["unusable"] }
        let rights = ["reads": "files", "writes": "new files", "connects": "the network", "forks": "children"]
        return after.split(separator: " ").filter { $0.hasSuffix("=1") }
            .compactMap { rights[String($0.dropLast(2))] }.sorted()
    }

    /// The limits of a reading process, which grow with the file: several times what an ordinary file needs.
    private struct Limits {
        let processorSeconds: UInt64
        let addressSpace: UInt64
        let output: Int

        /// - Parameter checks: whether the worker reports only what is wrong with the file, and none of its content.
        init(_ size: Int, checks: Bool) {
            let mebibytes = UInt64(size >> 20)
            #if DEBUG || SANITIZED
            // Unoptimised code takes about ten times as long, and a sanitizer three times as long as that.
            processorSeconds = 100 + 20 * mebibytes
            #else
            processorSeconds = 2 + 2 * mebibytes
            #endif
            addressSpace = 768 << 20 + UInt64(size) * 32
            output = checks ? 4 << 20 : 16 << 20 + size * 16
        }
    }

    private static let beyondLimits = Refusal(
        .invalid, code: .fileUnreadable,
        detail:
            "The file could not be read within the limits on time and memory; a part of it may be readable by itself.")

    /// Returns what the process read; nil if it exceeded its limits, crashed on the file, or reported something
    /// invalid.
    private static func run(
        _ executable: String, _ arguments: [String], _ upload: ImportUpload, _ limits: Limits,
        _ zone: TimeZoneReference?, _ progress: @escaping @Sendable (Double) -> Void
    ) async throws -> ReceivedReading? {
        let process = try upload.spool.reopened { try WorkerProcess(executable, arguments, reading: $0) }
        // Most events take a few hundred bytes. A file without events reserves little; a larger table grows by itself.
        let start = try ReceivedReading(
            limit: limits.output, indexFor: zone, expecting: min(upload.spool.count / 512, 20_000))
        let (reading, end) = try await process.run(into: start) { reading, bytes in
            if reading.isSound { try reading.receive(bytes, progress) }
        }
        switch end {
        case .exited(0): return reading
        case .exited(64), .exited(70): throw Refusal(.failed, detail: "Files cannot be read safely on this machine.")
        default: return nil
        }
    }

    private func enter(_ sender: Sender) async {
        if free > 0 {
            free -= 1
            count(sender, 1)
        } else {
            await withCheckedContinuation { waiting.append((sender, $0)) }
        }
    }

    /// Next comes the first of those with the fewest files being read, counted by network and then by sender, so that
    /// many files of one sender delay others by no more than one file.
    private func leave(_ sender: Sender) {
        count(sender, -1)
        let next = waiting.indices.min { load(waiting[$0].sender) < load(waiting[$1].sender) }
        guard let next else {
            free += 1
            return
        }
        let (sender, turn) = waiting.remove(at: next)
        count(sender, 1)
        turn.resume()
    }

    private func load(_ sender: Sender) -> (Int, Int) {
        (running[sender.network] ?? 0, running[sender.caller] ?? 0)
    }

    private func count(_ sender: Sender, _ change: Int) {
        for name in Set([sender.network, sender.caller]) {
            let count = running[name, default: 0] + change
            running[name] = count > 0 ? count : nil
        }
    }
}
