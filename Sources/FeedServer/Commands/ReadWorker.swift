// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CSandbox
import Glibc
import ICalBridge
import KalendsCore
import Server
import Synchronization

/// `kalends read-worker`: reads one file from standard input in a process without rights, and reports the result in
/// frames.
///
/// libical is C code that processes untrusted bytes: whatever damage a file could do ends with this process, which has
/// no files, no network and no secrets. It may start a thread, which is confined like the first, but no process.
struct ReadWorker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-worker", abstract: "Read an untrusted file for the server.", shouldDisplay: false)

    @Option var assumedTimeZone: String
    @Option var charset: String?
    @Flag var isForeign = false
    /// Reports only the problems of the file, and none of its contents.
    @Flag var checks = false
    /// Answers questions about calendar objects, as they come, instead of reading one file.
    @Flag var objects = false
    /// A file that the process can read at first: it shows what the process can do before and after it gives up its
    /// rights.
    @Option var tryToRead: String?
    @Option var limit: Int
    @Option var processorSeconds: UInt64
    @Option var addressSpace: UInt64

    func run() throws {
        if let tryToRead { report("before", tryToRead) }
        // From here on libraries cannot be loaded.
        if isForeign { CalendarReader.loadCharsets() }
        // The string is only read during the call.
        let sandbox = unsafe kalends_sandbox_enter(processorSeconds, addressSpace, SystemTimeZones.shared.directory)
        // Untrusted bytes are not read without limits; a kernel that lacks other protections is the operator's choice.
        guard sandbox.limits == 1, sandbox.no_new_privileges == 1 else { throw ExitCode(70) }
        if let tryToRead { return report("after", tryToRead) }
        // The server takes a while for each block, which this process need not wait for.
        kalends_widen_pipe(STDOUT_FILENO)
        if objects { return try answer() }
        let reported = Mutex(0.0)
        do {
            if checks {
                let bytes = try InputFile("-", limit: .max).whole()
                var options = CalendarReader.Options(ofWorker: assumedTimeZone, charset: charset, limit: limit)
                // A time without a zone must be shown as such.
                options.assumedTimeZone = CalendarReader.Options().assumedTimeZone
                let result = CheckResult(
                    file: "", bytes: bytes, reading: CalendarReader(options: options).read(anyForm: bytes))
                return Console.bytes(WorkerFrame.check(try FileCheck.Passed(result.found).json.serialized()).bytes)
            }
            let blocks = BlockOutput()
            var source = try ImportSource(
                try InputFile("-", limit: .max).whole(), assumedTimeZone: assumedTimeZone, charset: charset,
                limit: limit,
                progress: { part in
                    reported.withLock { last in
                        // Nobody needs more than a hundred steps.
                        guard part >= last + 0.01 else { return }
                        last = part
                        Console.bytes(WorkerFrame.progress(part).bytes)
                    }
                }, pass: blocks.write)
            source.leaveOut(blocks.finish())
            // The server waits for the end of this process, which would release each of the events first.
            withExtendedLifetime(source) {
                Console.bytes(WorkerFrame.summary(source.summary).bytes)
                Self.exit(withError: ExitCode.success)
            }
        } catch let refusal as Refusal {
            Console.bytes(WorkerFrame.refused(detail: refusal.detail, faults: refusal.faults.named).bytes)
        }
    }

    /// Answers each question before it takes the next, so that the server knows at which one this process ended.
    private func answer() throws {
        var frames = ObjectFrames()
        let input = try InputFile("-", limit: .max)
        while let bytes = try input.next() {
            frames.append(bytes)
            while let question = try frames.next() { Console.bytes(try question.answered().bytes) }
        }
    }

    private func report(_ time: String, _ file: String) {
        // Both strings are only read during the call.
        let reach = unsafe kalends_try_everything(file, file + ".new")
        Console.line(
            "\(time): reads=\(reach.reads_file) writes=\(reach.makes_file) connects=\(reach.connects) forks=\(reach.forks) threads=\(reach.starts_threads)"
        )
    }
}
