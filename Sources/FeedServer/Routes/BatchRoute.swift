// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import NIOCore
import Storage

/// Many puts and deletes in one call: a line of JSON each, every good line applied, every bad one told.
struct BatchRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        routes.on(
            .post, "/v1/circles/{circle}/batch",
            Operation(
                "postBatch", "Put and delete many items", .circle(.write), .scope(.writeSchedule),
                details: "One JSON document a line, streamed: every good line is applied, every bad one told.",
                body: Operation.Body(
                    contents: [("application/x-ndjson", Schema.bytes.described("Lines of BatchLine."))],
                    isRequired: false), [.ok(.named("BatchReport"))]), post)
    }

    /// One line that was understood.
    private struct Order: Sendable {
        var line: Int
        var id: String
        var collection: ScheduleItem.Collection
        /// Nil to delete.
        var draft: ItemDraft?
    }

    /// How many lines and bytes are gathered until they are applied.
    private static let groupSize = (lines: 1000, bytes: 1 << 20)
    /// How long a transaction takes up more of them: other writers wait for a moment and no longer.
    private static let stepTime = Duration.milliseconds(40)

    @Sendable
    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller().identity)
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        var tally = BatchTally()
        var group: [Order] = []
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        var line = 0
        var (lines, bytes) = (LineSplitter(limit: Request.jsonLimit), 0)
        for try await buffer in request.body {
            lines.append(buffer)
            while let next = lines.next() {
                line += 1
                bytes += next.count
                try await context.memory.document.hold(bytes * Request.documentFactor / 4)
                Self.read(next, line, in: circleID, into: &group, &tally)
                if group.count == Self.groupSize.lines || bytes >= Self.groupSize.bytes {
                    try await follow(&group, in: circleID, caller, &budget)
                    try await apply(&group, to: circleID, caller, &tally)
                    bytes = 0
                    context.memory.document.keep(0)
                }
            }
            try await context.memory.body.hold(lines.pendingCount)
            context.memory.body.keep(lines.pendingCount)
        }
        if let last = lines.rest() {
            line += 1
            Self.read(last, line, in: circleID, into: &group, &tally)
        }
        try await follow(&group, in: circleID, caller, &budget)
        try await apply(&group, to: circleID, caller, &tally)
        return try .json(tally.json)
    }

    private static func read(
        _ line: LineSplitter.Line, _ number: Int, in circle: String, into group: inout [Order],
        _ tally: inout BatchTally
    ) {
        guard case .complete(let bytes) = line else {
            tally.reject(
                number, nil,
                [Fault(pointer: "", code: .tooLong, message: "A line holds at most \(Request.jsonLimit) bytes.")])
            return
        }
        if bytes.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return }
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: bytes)
        } catch {
            return tally.reject(number, nil, [error.fault])
        }
        let name = value["id"]?.string
        do {
            group.append(try operation(value, number, in: circle))
        } catch let refusal as Refusal {
            tally.reject(number, name, refusal.faults)
        } catch {
            tally.reject(number, name, [Fault(pointer: "", code: .malformed, message: "The line cannot be read.")])
        }
    }

    private enum Verb: String, CaseIterable { case put, delete }

    private static func operation(_ value: JSONValue, _ line: Int, in circle: String) throws -> Order {
        var fields = FieldReader(value)
        let verb = fields.choice("op", Verb.self, isRequired: true)
        let collection = fields.choice("collection", ScheduleItem.Collection.self, isRequired: true)
        let id = fields.identifier("id", isRequired: true)
        let content = fields.value("value")
        if verb == .put, content == nil { fields.fault("value", code: .required, "This is required.") }
        if verb == .delete, content != nil { fields.fault("value", code: .contradiction, "A delete has no value.") }
        fields.finish()
        var draft: ItemDraft?
        if let collection, let content, verb == .put {
            draft = ItemDraft(collection, id ?? "", in: circle, from: content)
            // With a sound envelope the draft's faults are told later, together with those of what it refers to.
            if !fields.faults.isEmpty { fields.add(draft?.faults.underValue ?? []) }
        }
        try fields.check()
        guard let collection, let id else { throw Refusal.invalid(fields.faults) }
        return Order(line: line, id: id, collection: collection, draft: draft)
    }

    /// Follows the rules of repeating appointments while no transaction waits for them, all within one budget.
    private func follow(
        _ group: inout [Order], in circleID: String, _ caller: Identity, _ budget: inout RecurrenceBudget
    ) async throws {
        let places = group.indices.filter { group[$0].draft?.repeats == true }
        guard !places.isEmpty else { return }
        let ids = places.map { group[$0].id }
        let (zone, changed) = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            return (
                try circle.zone,
                try ids.map { try transaction.occurrences(of: $0, in: circleID).map(\.originalStart) }
            )
        }
        for (place, starts) in zip(places, changed) {
            group[place].draft?.follow(in: zone, changed: starts, budget: &budget)
            // Others have their turn between any two rules.
            await Task.yield()
        }
    }

    private func apply(
        _ group: inout [Order], to circleID: String, _ caller: Identity, _ tally: inout BatchTally
    ) async throws {
        let operations = group
        group = []
        var done = 0
        while done < operations.count { try await apply(operations, &done, to: circleID, caller, &tally) }
    }

    /// Applies as many as a short transaction takes.
    private func apply(
        _ operations: [Order], _ done: inout Int, to circleID: String, _ caller: Identity, _ tally: inout BatchTally
    ) async throws {
        let (first, before, now) = (done, tally, services.now())
        let quotas = services.settings.quotas.held(to: caller)
        (tally, done) = try await services.store.write { transaction in
            let start = ContinuousClock.now
            transaction.concerns(circle: circleID)
            var (tally, next) = (before, first)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var writer = try ScheduleWriter(circle: circle, quotas: quotas, transaction: transaction, now: now)
            while next < operations.count, next == first || ContinuousClock.now - start < Self.stepTime {
                let operation = operations[next]
                next += 1
                do {
                    if let draft = operation.draft {
                        let outcome = try writer.put(operation.id, operation.collection, draft).1
                        if outcome == .unchanged { tally.unchanged += 1 } else { tally.applied += 1 }
                    } else if try writer.delete(operation.id, operation.collection) {
                        tally.applied += 1
                    } else {
                        tally.unchanged += 1
                    }
                } catch let refusal as Refusal {
                    tally.reject(operation.line, operation.id, refusal.faults.underValue)
                }
            }
            try writer.finish()
            return (tally, next)
        }
    }
}

extension FaultList {
    /// The same faults, of the `value` of a line.
    fileprivate var underValue: FaultList {
        mapped { Fault(pointer: "/value" + $0.pointer, code: $0.code, message: $0.message) }
    }
}

/// Cuts a stream into lines without ever holding more than one of them.
struct LineSplitter {
    enum Line {
        case complete([UInt8])
        /// The line was longer than the limit; its bytes are gone.
        case tooLong

        /// How many bytes of it there are.
        var count: Int { if case .complete(let bytes) = self { bytes.count } else { 0 } }
    }

    let limit: Int
    private var pending: [UInt8] = []
    private var isSkipping = false
    private var buffer = ByteBuffer()

    init(limit: Int) { self.limit = limit }

    /// How many bytes of a line are here whose end is not.
    var pendingCount: Int { pending.count }

    mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        if buffer.readableBytes == 0 { buffer = bytes } else { buffer.writeBuffer(&bytes) }
    }

    /// The next whole line, nil when more bytes are needed.
    mutating func next() -> Line? {
        let view = buffer.readableBytesView
        guard let end = view.firstIndex(of: 10) else {
            take(view.count)
            return nil
        }
        take(end - view.startIndex)
        buffer.moveReaderIndex(forwardBy: 1)
        return finish()
    }

    /// What follows the last line break, nil when nothing does.
    mutating func rest() -> Line? {
        take(buffer.readableBytes)
        return pending.isEmpty && !isSkipping ? nil : finish()
    }

    private mutating func take(_ count: Int) {
        if let bytes = buffer.readBytes(length: count), !isSkipping {
            pending += bytes
            if pending.count > limit {
                isSkipping = true
                pending = []
            }
        }
    }

    private mutating func finish() -> Line {
        defer {
            pending = []
            isSkipping = false
        }
        return isSkipping ? .tooLong : .complete(pending)
    }
}
