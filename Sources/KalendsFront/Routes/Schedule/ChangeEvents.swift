// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Storage

/// Changes as Server-Sent Events (the WHATWG's HTML, section 9.2): each with its number as `id`.
///
/// Every page of changes is read with the caller's right in one transaction, which begins after the stream was woken, and
/// what let the request in is checked after that: what ended before a change was made keeps that change from being sent.
/// The next page is read when the reader has received the last one, so a slow reader holds no changes in memory.
struct ChangeEvents: Sendable {
    let changes: CircleChanges
    /// Nil for all circles.
    let circle: String?
    let caller: Caller
    /// The number after which the stream begins.
    let start: Int
    let stream: ChangeStream
    let context: KalendsContext

    static let mediaType = "text/event-stream"
    private static let page = 200
    /// After how many silences a stream is checked without a change: a minute.
    private static let patience = 4

    var response: Response {
        var headers: HTTPFields = [.contentType: Self.mediaType, .cacheControl: "no-store"]
        headers[.xAccelBuffering] = "no"
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                var paced: any ResponseBodyWriter = PacedWriter(writer, context.channel)
                try await write(to: &paced)
                try await paced.finish(nil)
            })
    }

    private func write(to writer: inout any ResponseBodyWriter) async throws {
        let disconnect = ClientDisconnect { stream.end() }
        context.channel.triggerUserOutboundEvent(disconnect, promise: nil)
        defer { context.channel.triggerUserOutboundEvent(disconnect, promise: nil) }
        // The number, for a client that is cut off before the first change.
        try await writer.write(ByteBuffer(string: "retry: 2000\nid: \(start)\n\n"))
        var (number, silences) = (start, 0)
        while true {
            switch await stream.next() {
            case .end: return
            case .silence:
                silences += 1
                if silences % Self.patience == 0, await !isAllowed() { return }
                // With the number, so that a client that comes back need not begin where it last saw a change.
                try await writer.write(ByteBuffer(string: ": open\nid: \(number)\n\n"))
            case .changes:
                var isBehind = true
                while isBehind {
                    // In a task of its own, since a task keeps the memory of its deepest call, here for as long as a
                    // stream is open.
                    let reading = Task { [number] in await page(after: number) }
                    guard let page = await reading.value, !stream.hasEnded else { return }
                    (number, isBehind) = (page.number, page.isFull)
                    if page.text.readableBytes > 0 {
                        try await writer.write(page.text)
                        stream.sent()
                    }
                }
            }
        }
    }

    /// The next changes as text, and the number up to which these are all; nil when the stream ends: the right is gone,
    /// or the database fails and the client has to come again.
    ///
    /// Only their text waits for the reader, which is a tenth of what the changes take.
    private func page(after number: Int) async -> (text: ByteBuffer, number: Int, isFull: Bool)? {
        guard let found = try? await stream.changes(after: number, limit: Self.page, from: changes, for: caller),
            let text = try? text(found.changes)
        else { return nil }
        if !found.changes.isEmpty, await !isAllowed() { return nil }
        let last = found.changes.last.map(self.number(of:)) ?? number
        let isFull = found.changes.count == Self.page
        // The changes between the last of these and the latest one are not for this reader.
        return (text, isFull ? last : max(last, found.latest), isFull)
    }

    private func isAllowed() async -> Bool { (try? await context.readmit()) != nil }

    private func number(of change: CircleChange) -> Int { circle == nil ? change.sequence : change.number }

    private func text(_ found: [CircleChange]) throws -> ByteBuffer {
        var text = ByteBuffer()
        for change in found {
            let json = circle == nil ? change.jsonAmongAll : change.json
            text.writeString("id: \(number(of: change))\nevent: change\ndata: \(try json.text())\n\n")
        }
        return text
    }
}

extension Request {
    /// Whether the client asks for a stream of events and not for a list.
    var acceptsEvents: Bool {
        headers[values: .accept].flatMap { $0.pieces(separatedBy: ",") }.contains { range in
            let parts = range.pieces(separatedBy: ";").map(\.withoutOuterBlanks)
            let quality = parts.dropFirst().first { $0.asciiLowercased.hasPrefix("q=") }
            return parts.first?.asciiLowercased.isSameText(as: ChangeEvents.mediaType) == true
                && quality.map { QualityValue.read($0.dropFirst(2)) > 0 } ?? true
        }
    }

    /// The number after which changes are asked for: the last event that a client received, or `since`, or nil.
    func position() throws -> Int? {
        if let text = headers[.lastEventID], !text.isEmpty {
            guard let number = Int(text), number >= 0 else {
                throw Refusal.badRequest("Last-Event-ID is not the number of a change.")
            }
            return number
        }
        guard uri.queryParameters["since"] != nil else { return nil }
        return try queryInteger("since", in: 0...Int.max, default: 0)
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .from
    static let xAccelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .from
}
