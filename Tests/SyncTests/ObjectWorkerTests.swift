// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync
@testable import KalendsCore

@Suite("The process that reads calendar objects")
struct ObjectWorkerTests {
    private static func worker(_ executable: String) -> ObjectWorker {
        // Time runs so fast that nobody has to wait for what reading took.
        let turns = ForeignAnswers(limit: 16 << 20, now: { systemClock() * 10_000 })
        return ObjectWorker(executable, in: turns, for: Sender(user: "ann", host: nil))
    }

    private static func object(_ uid: String, _ more: [String] = []) -> ObjectQuestion {
        let lines =
            [
                "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260101T000000Z",
                "DTSTART:20260303T100000Z", "SUMMARY:Of \(uid)",
            ] + more + ["END:VEVENT", "END:VCALENDAR", ""]
        return ObjectQuestion(text: Array(lines.joined(separator: "\r\n").utf8), floatingZone: "Europe/Berlin")
    }

    /// Runs with a program in place of the reading process: it answers as that does, except where `does` steps in.
    ///
    /// - Parameter does: Python that is run with each question's `text`, and may call `say` with an answer's JSON.
    private static func standIn(
        _ does: String, _ body: (_ executable: String, _ starts: () -> Int) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "objects-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (script, log) = (folder.appending(path: "worker").path, folder.appending(path: "starts").path)
        let python = """
            #!/usr/bin/env python3
            import os, signal, struct, subprocess, sys
            with open(\(String(reflecting: log)), "a") as starts: starts.write("x")
            program = [\(String(reflecting: Programs.kalends))] + sys.argv[1:]
            own = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            def take(source):
                lengths = source.read(8)
                if len(lengths) < 8: sys.exit(0)
                return lengths, source.read(sum(struct.unpack(">II", lengths)))
            def give(sink, frame):
                sink.write(frame[0] + frame[1]); sink.flush()
            def say(head):
                head = head.encode(); give(sys.stdout.buffer, (struct.pack(">II", len(head), 0), head)); return True
            def steps_in(text):
                \(does)
            while True:
                frame = take(sys.stdin.buffer)
                if steps_in(frame[1]): continue
                give(own.stdin, frame); give(sys.stdout.buffer, take(own.stdout))

            """
        try await makeScript(python, at: script)
        try await body(script) { (try? Data(contentsOf: URL(filePath: log)).count) ?? 0 }
    }

    @Test("It answers as a reader in this process would, and changes an object in the same way")
    func same() async throws {
        let worker = Self.worker(Programs.kalends)
        var questions = [
            Self.object("plain"), Self.object("series", ["RRULE:FREQ=WEEKLY", "EXDATE:20260310T100000Z"]),
            Self.object("guests", ["ATTENDEE:mailto:a@example.com", "X-OWN;X-P=\"a:b\":ü"]),
            Self.object("gone", ["STATUS:CANCELLED"]),
            Self.object("alarm", ["BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "END:VALARM"]),
            ObjectQuestion(text: Array("nothing".utf8), floatingZone: "UTC"),
            ObjectQuestion(text: [0xFF, 0x00, 0x0A], floatingZone: "UTC"), ObjectQuestion(floatingZone: "UTC"),
        ]
        let mark = EventMark(installation: "i", connection: "c", circle: "o", item: ItemKey(.tasks, "t"), generation: 0)
        for index in [0, 1, 2, 4] {
            let entry = try #require(questions[index].answer().entry)
            var other = entry
            other.title += " 2"
            other.reminders = [5]
            var question = questions[index]
            question.change = .init(from: entry, to: other, mark: mark, now: Instant(seconds: 1_772_452_800))
            #expect(question.answer().text != nil)
            questions.append(question)
        }
        let expected = questions.map { $0.answer() }
        #expect(try await worker.answers(to: questions) == expected)
        #expect(try await worker.answers(to: []) == [])
        let asked = questions
        let several = try await withThrowingTaskGroup(of: [ObjectAnswer].self) { group in
            for question in asked { group.addTask { try await worker.answers(to: [question, asked[0]]) } }
            return try await group.reduce(into: Set<[ObjectAnswer]>()) { $0.insert($1) }
        }
        #expect(several == Set(expected.map { [$0, expected[0]] }))
    }

    @Test("An object that ends its process is left out, its neighbours are read, and no object has a process to itself")
    func deadly() async throws {
        try await Self.standIn("b'deadly' in text and os.kill(os.getpid(), signal.SIGKILL)") { executable, starts in
            let worker = Self.worker(executable)
            var questions = (0..<30).map { Self.object("u\($0)") }
            for index in [0, 7, 8, 29] { questions[index] = Self.object("deadly\(index)") }
            let answers = try await worker.answers(to: questions)
            for (index, (question, answer)) in zip(questions, answers).enumerated() {
                let isDeadly = [0, 7, 8, 29].contains(index)
                #expect(answer == (isDeadly ? .beyondLimits : question.answer()), "\(index)")
            }
            // The first is deadly to a new process; the others are met by a used one, and then by a new one.
            #expect(starts() <= 8)
            #expect(try await worker.answers(to: [questions[1]]) == [questions[1].answer()])
            #expect(starts() <= 9)
        }
    }

    @Test(
        "A process that answers what is no answer is ended, and one whose times cannot be computed with too",
        arguments: [
            #"say("no JSON")"#, #"say("{}")"#, #"give(sys.stdout.buffer, (b"\\xff" * 8, b""))"#,
            #"say('{"uid":"x","fault":"","isCancelled":false,"seen":{"more":{}},"entry":{"title":"","span":{"timed":{"start":9223372036854775807,"end":9223372036854775807,"zone":"UTC"}}}}')"#,
            #"[say('{"uid":"' + "x" * 1000000 + '","fault":"","isCancelled":false}') for _ in range(4)]"#,
        ])
    func nonsense(does: String) async throws {
        try await Self.standIn("return b'nonsense' in text and (\(does) or True)") { executable, _ in
            let questions = [Self.object("a"), Self.object("nonsense"), Self.object("b")]
            let answers = try await Self.worker(executable).answers(to: questions)
            #expect(answers == [questions[0].answer(), .beyondLimits, questions[2].answer()])
        }
    }

    @Test("An answer with times that cannot be computed with is not sound")
    func sound() throws {
        let (late, now) = (Instant(seconds: .max), Instant(seconds: 1_772_452_800))
        func answer(_ start: Instant, _ end: Instant, _ exdate: Instant? = nil) -> ObjectAnswer {
            var entry = Entry(title: "", span: .timed(start: start, end: end, zone: "UTC"))
            entry.repetition = exdate.map { Repetition(rrule: nil, exdates: [$0]) }
            return ObjectAnswer(seen: .more, entry: entry)
        }
        #expect(answer(now, now, now).isSound)
        for wrong in [answer(late, late), answer(now, late), answer(now, now, late)] { #expect(!wrong.isSound) }
    }

    @Test("Whoever has many objects that end their process has no calendar read, and where none can start nobody has")
    func given() async throws {
        try await Self.standIn("os.kill(os.getpid(), signal.SIGKILL)") { executable, starts in
            let questions = (0..<100).map { Self.object("u\($0)") }
            await #expect(throws: ProviderFailure.self) { try await Self.worker(executable).answers(to: questions) }
            #expect(starts() <= 21)
        }
        for executable in ["/nonexistent/kalends", "/bin/false"] {
            let worker = Self.worker(executable)
            let answers = try? await worker.answers(to: [Self.object("a")])
            #expect(answers == nil || answers == [.beyondLimits], "\(executable)")
        }
    }

    @Test("The process of a worker that nobody needs any more ends")
    func ended() async throws {
        try await Self.standIn("pass") { executable, _ in
            let folder = URL(filePath: executable).deletingLastPathComponent().path
            func isRunning() -> Bool {
                let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
                return processes.contains { number in
                    guard Int(number) != nil, let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline")
                    else { return false }
                    return String(decoding: line, as: UTF8.self).contains(folder)
                }
            }
            do {
                let worker = Self.worker(executable)
                _ = try await worker.answers(to: [Self.object("a")])
                #expect(isRunning())
                withExtendedLifetime(worker) {}
            }
            try await eventually("The process ends.") { !isRunning() }
        }
    }
}
