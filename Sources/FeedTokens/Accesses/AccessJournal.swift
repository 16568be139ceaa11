// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Storage
internal import Synchronization

/// Called once accesses are recorded, or are known not to be.
public typealias AccessCompletion = @Sendable (Result<Void, JournalFailure>) -> Void

/// Records accesses before their readers get an answer, at a cost of 32 bytes each.
///
/// With `AccessDurability.power` a separate thread writes. Accesses that arrive while it flushes are flushed together
/// next, so that all who wait share one flush. With `.process` each access is written where it is appended, and the
/// thread flushes now and then. After a failed write or flush nothing is ever acknowledged again: the system may have
/// thrown away what it could not write, and a second flush that succeeds would prove nothing.
public final class AccessJournal: Sendable {
    /// The maximum number of accesses that are written and flushed together: as many places can be half written after a
    /// power cut.
    static let largestGroup = 4096

    private struct State {
        var waiting: [FeedAccess] = []
        /// The function that is called once the accesses before `end` in `waiting` are recorded.
        var completions: [(end: Int, call: AccessCompletion)] = []
        /// The place for the next access.
        var next: Int
        var isWriterAwake = false
        var failure: JournalFailure?
        /// The words of the records that are being written.
        var words: [UInt64] = []
    }

    private enum Appended {
        case waiting
        case recorded
        case refused(JournalFailure)
    }

    private let file: JournalFile
    private let durability: AccessDurability
    private let state: Mutex<State>
    /// The last place that is recorded as `durability` promises, and the last place that is in the database as well.
    private let durable: Atomic<Int>
    private let folded: Atomic<Int>
    private let wake = Semaphore()
    private let writer: SystemThread
    private let onPressure: @Sendable () -> Void

    /// - Parameters:
    ///   - folded: the last place that is in the database.
    ///   - onPressure: called, on any thread, when an eighth of the places is in use, and again whenever accesses are
    ///     refused because too few are free.
    init(
        _ file: JournalFile, folded: Int, durability: AccessDurability = .power,
        onPressure: @escaping @Sendable () -> Void
    ) throws(JournalFailure) {
        self.file = file
        self.durability = durability
        self.onPressure = onPressure
        // The accesses are read again when they are folded: only their number matters here.
        var last = folded
        while last - folded < file.capacity {
            let found = try file.accesses(after: last, limit: min(1 << 16, file.capacity - (last - folded)))
            guard let end = found.last?.sequence else { break }
            last = end
        }
        // Between two flushes the system writes in any order, so any place may be half written.
        let mostTorn = try file.durability() == .power ? Self.largestGroup : file.capacity
        try file.clear(after: last, count: min(mostTorn, file.capacity - (last - folded)))
        try file.note(durability)
        state = Mutex(State(next: last + 1))
        durable = Atomic(last)
        self.folded = Atomic(folded)
        writer = SystemThread()
        do {
            try writer.start { [unowned self] in
                switch durability {
                case .power: write()
                case .process: flush()
                }
            }
        } catch {
            throw .broken("its thread cannot be started")
        }
    }

    /// Records an access as `append(_:then:)` records several.
    public func append(_ access: FeedAccess, then completion: @escaping AccessCompletion) {
        append([access], then: completion)
    }

    /// Records accesses together, all or none; may be called on any thread, including an event loop, and never waits.
    ///
    /// Only where the disk fails in between may some be recorded although the outcome is a failure.
    ///
    /// - Parameter completion: called once, on the journal's own thread or before this returns; it must not block.
    ///   `.success` once all of them are recorded.
    public func append(_ accesses: [FeedAccess], then completion: @escaping AccessCompletion) {
        guard !accesses.isEmpty else { return completion(.success(())) }
        let (appended, wakes, presses) = state.withLock { state -> (Appended, Bool, Bool) in
            if let failure = state.failure { return (.refused(failure), false, false) }
            let taken = state.next - 1 - folded.load(ordering: .acquiring)
            guard taken + accesses.count <= file.capacity else { return (.refused(.full), false, true) }
            switch durability {
            case .power:
                state.waiting += accesses
                state.completions.append((state.waiting.count, completion))
            case .process:
                if let failure = record(accesses, &state) { return (.refused(failure), false, false) }
            }
            state.next += accesses.count
            defer { state.isWriterAwake = true }
            return (
                durability == .power ? .waiting : .recorded, !state.isWriterAwake,
                (taken..<taken + accesses.count).contains(file.capacity / 8)
            )
        }
        if wakes { wake.signal() }
        if presses { onPressure() }
        switch appended {
        case .waiting: break
        case .recorded: completion(.success(()))
        case .refused(let failure): completion(.failure(failure))
        }
    }

    /// Writes accesses to the next places, where they survive the end of the process.
    private func record(_ accesses: [FeedAccess], _ state: inout State) -> JournalFailure? {
        setWords(of: accesses[...], from: state.next, &state.words)
        do throws(JournalFailure) {
            try file.write(state.words[...], from: state.next)
        } catch {
            state.failure = error
            return error
        }
        durable.store(state.next + accesses.count - 1, ordering: .releasing)
        return nil
    }

    private func setWords(of accesses: ArraySlice<FeedAccess>, from first: Int, _ words: inout [UInt64]) {
        words.removeAll(keepingCapacity: true)
        for (index, access) in accesses.enumerated() {
            let record = AccessRecord(SequencedAccess(sequence: first + index, access: access), salt: file.salt).words
            words.append(record.0.littleEndian)
            words.append(record.1.littleEndian)
            words.append(record.2.littleEndian)
            words.append(record.3.littleEndian)
        }
    }

    /// Records an access; returns once it is recorded.
    public func append(_ access: FeedAccess) async throws(JournalFailure) {
        let result = await withCheckedContinuation { continuation in
            append(access) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    /// The number of accesses that are recorded but not in the database yet.
    public var pending: Int { durable.load(ordering: .acquiring) - folded.load(ordering: .acquiring) }

    /// The number of places.
    public var capacity: Int { file.capacity }

    /// Why no access can be recorded now; nil while recording works.
    public var failure: JournalFailure? {
        state.withLock { state in
            state.failure ?? (state.next - 1 - folded.load(ordering: .acquiring) < file.capacity ? nil : .full)
        }
    }

    /// The oldest accesses that are recorded but not in the database yet.
    func unfolded(limit: Int) throws(JournalFailure) -> [SequencedAccess] {
        let (first, last) = (folded.load(ordering: .acquiring), durable.load(ordering: .acquiring))
        let count = min(limit, last - first)
        let found = count > 0 ? try file.accesses(after: first, limit: count) : []
        // They were written: if they are missing now, the disk is at fault, and no later access can be trusted either.
        if found.count < count {
            let failure = JournalFailure.broken("what was written to it is gone")
            fail(failure)
            throw failure
        }
        return found
    }

    /// Frees the places of accesses that are permanently in the database.
    func noteFolded(through sequence: Int) { folded.store(sequence, ordering: .releasing) }

    /// Records nothing more, because another process has taken over the journal.
    func abandon() {
        fail(.broken("another server has taken it over: its files are in use twice, or a copy of them was used"))
    }

    /// The last recorded place.
    var recorded: Int { durable.load(ordering: .acquiring) }

    /// Closes the journal once everything waiting is written.
    public func close() {
        state.withLock { state in
            if state.failure == nil { state.failure = .closed }
            state.isWriterAwake = true
        }
        wake.signal()
        writer.join()
    }

    // MARK: On the journal's own thread

    private func write() {
        var (group, completions): ([FeedAccess], [(end: Int, call: AccessCompletion)]) = ([], [])
        var words: [UInt64] = []
        while true {
            let isEnded = state.withLock { state -> Bool in
                swap(&group, &state.waiting)
                swap(&completions, &state.completions)
                if group.isEmpty { state.isWriterAwake = false }
                return group.isEmpty && state.failure != nil
            }
            if isEnded { return }
            if group.isEmpty {
                wake.wait()
                continue
            }
            var (start, called) = (0, 0)
            while start < group.count {
                let end = min(start + Self.largestGroup, group.count)
                // After a failure nothing more is recorded, so the last result is that of all before it.
                let result = commit(group[start..<end], &words)
                while called < completions.count, completions[called].end <= end {
                    completions[called].call(result)
                    called += 1
                }
                start = end
            }
            group.removeAll(keepingCapacity: true)
            completions.removeAll(keepingCapacity: true)
        }
    }

    private func commit(_ group: ArraySlice<FeedAccess>, _ words: inout [UInt64]) -> Result<Void, JournalFailure> {
        if case .broken(let reason)? = state.withLock({ $0.failure }) { return .failure(.broken(reason)) }
        let first = durable.load(ordering: .relaxed) + 1
        setWords(of: group, from: first, &words)
        do throws(JournalFailure) {
            try file.write(words[...], from: first)
            try file.disk.sync()
        } catch {
            fail(error)
            return .failure(error)
        }
        durable.store(first + group.count - 1, ordering: .releasing)
        return .success(())
    }

    /// Flushes what was written since the last flush, after waiting a moment for further writes.
    private func flush() {
        while true {
            wake.wait()
            if state.withLock({ $0.failure == nil }) { SystemThread.sleep(for: AccessDurability.flushInterval) }
            let isEnded = state.withLock { state in
                state.isWriterAwake = false
                return state.failure != nil
            }
            do throws(JournalFailure) {
                try file.disk.sync()
            } catch {
                fail(error)
                return
            }
            if isEnded { return }
        }
    }

    private func fail(_ failure: JournalFailure) { state.withLock { $0.failure = failure } }
}
