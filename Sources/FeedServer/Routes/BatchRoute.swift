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
                "postBatch", "Put and delete many items", .circle(.write),
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

    private struct Tally: Sendable {
        var applied = 0
        var unchanged = 0
        var rejected: [JSONValue] = []

        mutating func reject(_ line: Int, _ id: String?, _ faults: [Fault]) {
            rejected.append([
                "line": .integer(line), "id": JSONValue(id), "errors": .array(faults.map(\.json)),
            ])
        }
    }

    /// How many lines share a transaction: few enough that readers and other writers never wait long.
    private static let groupSize = 1000

    @Sendable
    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        var tally = Tally()
        var group: [Order] = []
        var line = 0
        var lines = LineSplitter(limit: Request.jsonLimit)
        for try await buffer in request.body {
            lines.append(buffer)
            while let next = lines.next() {
                line += 1
                Self.read(next, line, in: circleID, into: &group, &tally)
                if group.count == Self.groupSize { try await apply(&group, to: circleID, caller, &tally) }
            }
        }
        if let last = lines.rest() {
            line += 1
            Self.read(last, line, in: circleID, into: &group, &tally)
        }
        try await apply(&group, to: circleID, caller, &tally)
        return try .json([
            "applied": .integer(tally.applied), "unchanged": .integer(tally.unchanged),
            "rejected": .array(tally.rejected.sorted { ($0["line"]?.integer ?? 0) < ($1["line"]?.integer ?? 0) }),
        ])
    }

    private static func read(
        _ line: LineSplitter.Line, _ number: Int, in circle: String, into group: inout [Order], _ tally: inout Tally
    ) {
        guard case .complete(let bytes) = line else {
            tally.reject(number, nil, [Fault(pointer: "", message: "A line holds at most \(Request.jsonLimit) bytes.")])
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
            tally.reject(number, name, [Fault(pointer: "", message: "The line cannot be read.")])
        }
    }

    private enum Verb: String, CaseIterable { case put, delete }

    private static func operation(_ value: JSONValue, _ line: Int, in circle: String) throws -> Order {
        var fields = FieldReader(value)
        let verb = fields.choice("op", Verb.self, isRequired: true)
        let collection = fields.choice("collection", ScheduleItem.Collection.self, isRequired: true)
        let id = fields.identifier("id", isRequired: true)
        let content = fields.value("value")
        if verb == .put, content == nil { fields.fault("value", "This is required.") }
        if verb == .delete, content != nil { fields.fault("value", "A delete has no value.") }
        fields.finish()
        var draft: ItemDraft?
        if let collection, let content, verb == .put {
            draft = ItemDraft(collection, id ?? "", in: circle, from: content)
            // With a sound envelope the draft's faults are told later, together with those of what it refers to.
            if !fields.faults.isEmpty { fields.add(draft?.faults.map(\.underValue) ?? []) }
        }
        try fields.check()
        guard let collection, let id else { throw Refusal.invalid(fields.faults) }
        return Order(line: line, id: id, collection: collection, draft: draft)
    }

    private func apply(
        _ group: inout [Order], to circleID: String, _ caller: Identity, _ tally: inout Tally
    ) async throws {
        guard !group.isEmpty else { return }
        let (operations, before, now) = (group, tally, services.now())
        group = []
        tally = try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            var tally = before
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var writer = try ScheduleWriter(circle: circle, transaction: transaction, now: now)
            for operation in operations {
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
                    tally.reject(operation.line, operation.id, refusal.faults.map(\.underValue))
                }
            }
            try writer.finish()
            return tally
        }
    }
}

extension Fault {
    /// The same fault, of the `value` of a line.
    fileprivate var underValue: Fault { Fault(pointer: "/value" + pointer, message: message) }
}

/// Cuts a stream into lines without ever holding more than one of them.
struct LineSplitter {
    enum Line {
        case complete([UInt8])
        /// The line was longer than the limit; its bytes are gone.
        case tooLong
    }

    let limit: Int
    private var pending: [UInt8] = []
    private var isSkipping = false
    private var buffer = ByteBuffer()

    init(limit: Int) { self.limit = limit }

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
