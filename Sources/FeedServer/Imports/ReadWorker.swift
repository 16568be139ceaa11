// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CSandbox
import FoundationEssentials
import Glibc
import HTTPTypes
import ICalBridge

/// What a reading process answers: what it read, or why nothing can be imported.
enum WorkerAnswer: Sendable, Codable {
    struct Fault: Sendable, Codable {
        var pointer: String
        var message: String
    }

    case source(ImportSource)
    case refused(detail: String, faults: [Fault])
}

/// `kalends read-worker`: reads one file from standard input in a process that has no rights, and answers in JSON.
///
/// libical is C over untrusted bytes: what a file could make of it ends with this process, which has no file, no network
/// and no secret.
struct ReadWorker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-worker", abstract: "Read a stranger's file for the server.", shouldDisplay: false)

    @Option var assumedTimeZone: String
    @Option var charset: String?
    @Flag var isForeign = false
    /// A file that the process can read at first: it tells what it can do before and after it gave up its rights.
    @Option var tryToRead: String?
    @Option var limit: Int
    @Option var processorSeconds: UInt64
    @Option var addressSpace: UInt64

    func run() throws {
        if let tryToRead { tell("before", tryToRead) }
        // From here on no library can be loaded.
        if isForeign { CalendarReader.loadCharsets() }
        // The string is only read during the call.
        let sandbox = unsafe kalends_sandbox_enter(processorSeconds, addressSpace, SystemTimeZones.shared.directory)
        // A process without limits is no place for a stranger's bytes; what else the kernel lacks is its owner's choice.
        guard sandbox.limits == 1, sandbox.no_new_privileges == 1 else { throw ExitCode(70) }
        if let tryToRead { return tell("after", tryToRead) }
        let answer: WorkerAnswer
        do {
            answer = .source(
                try ImportSource(try readInput("-"), assumedTimeZone: assumedTimeZone, charset: charset, limit: limit))
        } catch let refusal as Refusal {
            answer = .refused(
                detail: refusal.detail,
                faults: refusal.faults.map { WorkerAnswer.Fault(pointer: $0.pointer, message: $0.message) })
        }
        Console.bytes(Array(try JSONEncoder().encode(answer)))
    }

    private func tell(_ time: String, _ file: String) {
        // Both strings are only read during the call.
        let reach = unsafe kalends_try_everything(file, file + ".new")
        Console.line(
            "\(time): reads=\(reach.reads_file) writes=\(reach.makes_file) connects=\(reach.connects) forks=\(reach.forks)"
        )
    }
}
