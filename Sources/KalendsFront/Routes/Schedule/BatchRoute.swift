// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import NIOCore

/// Applies many puts and deletes in one call, one line of JSON each; every valid line is applied, and every invalid one
/// is reported.
struct BatchRoute: Sendable {
    let batch: @Sendable (_ circle: String, _ caller: Caller) -> ScheduleBatch
    let kinds: ItemKinds

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        routes.on(
            .post, "/v1/circles/{circle}/batch", "postBatch", "Put and delete many items", .circle(.write),
            .scope(.writeSchedule),
            details: "One JSON document per line, streamed: valid lines are applied, and invalid ones are reported.",
            body: Operation.Body(
                contents: [("application/x-ndjson", Schema.bytes.described("Lines of BatchLine."))], isRequired: false),
            [.ok(.named("BatchReport"))], takesLong: true, post)
    }

    /// Lines that have been read and are not applied yet.
    private struct Group {
        var orders: [ScheduleBatch.Order] = []
        /// The number of each order's line.
        var lines: [Int] = []

        var isFull: Bool { orders.count == BatchRoute.groupSize }
    }

    /// Applies one group while the next one is read.
    private struct Applying {
        var counts = BatchCounts()
        private var batch: ScheduleBatch
        private var work: Task<(ScheduleBatch, [ScheduleBatch.Outcome]), any Error>?
        /// The id and the line of each order that is being applied.
        private var names: [(id: String, line: Int)] = []

        init(_ batch: ScheduleBatch) { self.batch = batch }

        /// Begins to apply a group after the last one has been applied; throws if that failed.
        ///
        /// - Parameter room: the memory that the group holds until it has been applied.
        mutating func begin(_ next: consuming Group, _ room: MemoryShare) async throws {
            try await finish()
            names = zip(next.orders, next.lines).map { ($0.id, $1) }
            work = Task { [batch, orders = next.orders] in
                defer { withExtendedLifetime(room) {} }
                var batch = batch
                let outcomes = try await batch.apply(orders)
                return (batch, outcomes)
            }
        }

        /// Waits until the last group has been applied, and counts its results.
        mutating func finish() async throws {
            guard let work else { return }
            self.work = nil
            let outcomes: [ScheduleBatch.Outcome]
            (batch, outcomes) = try await work.value
            for (name, outcome) in zip(names, outcomes) {
                switch outcome {
                case .applied: counts.applied += 1
                case .unchanged: counts.unchanged += 1
                case .refused(let faults): counts.reject(name.line, name.id, faults.underValue)
                }
            }
        }
    }

    /// How many bytes are collected before lines are read in them, and how many lines before they are applied.
    private static let (pieceSize, groupSize) = (1 << 20, 4000)

    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let circle = try context.identifier("circle")
        var batch = batch(circle, try context.caller())
        try await batch.check()
        var applying = Applying(batch)
        do {
            try await read(request, context, batch, in: circle, &applying)
        } catch {
            // The call ends only when its work has ended.
            try? await applying.finish()
            throw error
        }
        return try .json(applying.counts.json)
    }

    private func read(
        _ request: Request, _ context: KalendsContext, _ batch: ScheduleBatch, in circle: String,
        _ applying: inout Applying
    ) async throws {
        var line = 0
        var lines = LineSplitter(limit: Request.jsonLimit)
        var arriving = try context.arrivingBody()
        /// Reads the lines of what has arrived, and begins to apply them.
        func read(isEnd: Bool) async throws {
            let room = try await room(for: arriving.count, &applying, context.memory.document)
            lines.append(ByteBuffer(bytes: try arriving.take()))
            var group = Group()
            while let next = lines.next() ?? (isEnd ? lines.rest() : nil) {
                line += 1
                // A million short lines that are all refused cause no transaction, and would occupy a core.
                if line % 256 == 0 { await Task.yield() }
                self.read(next, line, batch, in: circle, into: &group, &applying.counts)
                if group.isFull {
                    try await applying.begin(group, room)
                    group = Group()
                }
            }
            try await applying.begin(group, room)
            try arriving.append(lines.takePending())
        }
        for try await buffer in request.body {
            try arriving.append(buffer.readableBytesView)
            if arriving.count >= Self.pieceSize { try await read(isEnd: false) }
        }
        try await read(isEnd: true)
        try await applying.finish()
    }

    /// Takes room for a piece that has arrived; without room, the lines that are being applied are finished first.
    private func room(for count: Int, _ applying: inout Applying, _ share: MemoryShare) async throws -> MemoryShare {
        let room = share.another()
        if room.holdNow(Self.memory(count)) { return room }
        try await applying.finish()
        try await room.hold(Self.memory(count))
        return room
    }

    /// The memory, in bytes, that documents of this many bytes take.
    private static func memory(_ bytes: Int) -> Int { bytes * Request.documentFactor / 4 }

    private func read(
        _ line: LineSplitter.Line, _ number: Int, _ batch: ScheduleBatch, in circle: String, into group: inout Group,
        _ counts: inout BatchCounts
    ) {
        guard case .complete(let bytes) = line else {
            counts.reject(
                number, nil,
                [Fault(pointer: "", code: .tooLong, message: "A line holds at most \(Request.jsonLimit) bytes.")])
            return
        }
        if bytes.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return }
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: bytes)
        } catch {
            return counts.reject(number, nil, [error.inLine(number).fault])
        }
        let name = value["id"]?.string
        do {
            group.orders.append(batch.prepared(try order(value, in: circle)))
            group.lines.append(number)
        } catch let refusal as Refusal {
            counts.reject(number, name, refusal.faults)
        } catch {
            counts.reject(number, name, [Fault(pointer: "", code: .malformed, message: "The line cannot be read.")])
        }
    }

    private enum Verb: String, CaseIterable { case put, delete }

    private func order(_ value: JSONValue, in circle: String) throws -> ScheduleBatch.Order {
        var fields = FieldReader(value)
        let verb = fields.choice("op", Verb.self, isRequired: true)
        let kind = fields.kind("collection", kinds)
        let id = fields.identifier("id", isRequired: true)
        let content = fields.value("value")
        if verb == .put, content == nil { fields.fault("value", code: .required, "This is required.") }
        if verb == .delete, content != nil { fields.fault("value", code: .contradiction, "A delete has no value.") }
        fields.finish()
        var draft: ItemDraft?
        if let kind, let content, verb == .put {
            draft = ItemDraft(kind, id ?? "", in: circle, from: content)
            // If the envelope is valid, the draft's faults are reported later, together with those of its references.
            if !fields.faults.isEmpty { fields.add(draft?.faults.underValue ?? []) }
        }
        try fields.check()
        guard let kind, let id else { throw Refusal.invalid(fields.faults) }
        return ScheduleBatch.Order(id: id, kind: kind, draft: draft)
    }
}

extension FaultList {
    /// The same faults, with pointers into the `value` of a line.
    fileprivate var underValue: FaultList {
        mapped { Fault(pointer: "/value" + $0.pointer, code: $0.code, message: $0.message) }
    }
}
