// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Synchronization

/// A process without rights that answers questions about calendar objects, until it is no longer needed or dies.
final class ObjectProcess: Sendable {
    /// How many bytes the process may still write: nothing but answers, and none of them much longer than its question.
    private final class Allowance: Sendable {
        private let bytes = Mutex(0)

        func add(_ count: Int) { bytes.withLock { $0 += count } }

        /// Subtracts the bytes from what is still allowed; returns false if they are more than that.
        func take(_ count: Int) -> Bool {
            bytes.withLock { bytes in
                bytes -= count
                return bytes >= 0
            }
        }
    }

    #if DEBUG || SANITIZED
    // Unoptimised code takes about ten times as long, and a sanitizer three times as long as that.
    private static let processorSeconds = 100
    #else
    // Several times what a whole calendar of ordinary objects needs.
    private static let processorSeconds = 5
    #endif
    private static let addressSpace = 768 << 20

    /// Who takes turns with others when long answers are read.
    private let caller: ByteString
    private let asked: AsyncStream<[UInt8]>.Continuation
    private let answered: AsyncStream<ObjectFrame>
    private let allowance = Allowance()
    private let life: Task<Bool, Never>

    init(_ executable: String, for caller: ByteString) {
        self.caller = caller
        let (questions, asked) = AsyncStream.makeStream(of: [UInt8].self)
        let (answered, answers) = AsyncStream.makeStream(of: ObjectFrame.self)
        (self.asked, self.answered) = (asked, answered)
        life = Task { [allowance] in
            defer { answers.finish() }
            return await Self.run(executable, questions, answers, allowance)
        }
    }

    deinit { asked.finish() }

    /// Returns the answers to some questions: all of them, or those before the one at which the process died, took too
    /// long or wrote something that is not an answer.
    func answers(to questions: ArraySlice<ObjectQuestion>) async throws -> [ObjectAnswer] {
        let questions = try questions.map { try ObjectFrame($0) }
        let bytes = questions.flatMap(\.bytes)
        // Times are longer as JSON than in an object, and other values as long.
        allowance.add(bytes.count * 8 + questions.count << 16)
        asked.yield(bytes)
        // A process that only waits uses no processor time.
        let end = Task { [life] in
            try await Task.sleep(for: .seconds(Self.processorSeconds * 2 + 5))
            life.cancel()
        }
        defer { end.cancel() }
        var frames: [ObjectFrame] = []
        for await frame in answered {
            frames.append(frame)
            if frames.count == questions.count { break }
        }
        end.cancel()
        // Little is read where it is, since to pass it on would take longer.
        guard frames.reduce(0, { $0 + $1.count }) > ForeignAnswers.small else { return Self.answers(in: frames) }
        return try await ForeignAnswers.threads.run(for: caller) { [frames] in Self.answers(in: frames) }
    }

    /// Returns the answers up to the first frame that cannot be read as one.
    private static func answers(in frames: [ObjectFrame]) -> [ObjectAnswer] {
        var found: [ObjectAnswer] = []
        for frame in frames {
            guard let answer = try? frame.answer() else { break }
            found.append(answer)
        }
        return found
    }

    /// Ends the process; returns false if it could not be confined or started at all.
    func end() async -> Bool {
        life.cancel()
        return await life.value
    }

    private static func run(
        _ executable: String, _ questions: AsyncStream<[UInt8]>, _ answers: AsyncStream<ObjectFrame>.Continuation,
        _ allowance: Allowance
    ) async -> Bool {
        do {
            let process = try WorkerProcess(
                executable,
                [
                    "read-worker", "--objects", "--assumed-time-zone", "UTC", "--limit", "0", "--processor-seconds",
                    String(processorSeconds), "--address-space", String(addressSpace),
                ])
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await bytes in questions { try await process.write(bytes) }
                    process.endInput()
                }
                // Once the process has closed its output, nothing is left to be asked.
                defer { group.cancelAll() }
                let (_, end) = try await process.run(into: ObjectFrames()) { frames, bytes in
                    guard allowance.take(bytes.count) else { throw ObjectFrames.Broken() }
                    frames.append(bytes)
                    while let frame = try frames.next() { answers.yield(frame) }
                }
                return end != .exited(70) && end != .exited(64)
            }
        } catch is ObjectFrames.Broken {
            return true
        } catch {
            return Task.isCancelled
        }
    }
}
