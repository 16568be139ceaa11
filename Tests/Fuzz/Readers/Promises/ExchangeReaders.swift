// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore

@testable import CalDAVServer
@testable import KalendsFront

/// What calendar apps send over CalDAV, and what programs send that repeat a request or keep a stream open.
extension Reader {
    static let exchange = [
        Reader(name: "door-request", check: doorRequest),
        Reader(name: "door-object", check: doorObject),
        Reader(name: "once-key") { bytes in
            guard let key = try? IdempotencyKey(request([.idempotencyKey: text(bytes)]).headers) else { return }
            try promise((1...IdempotencyKey.longest).contains(key.text.utf8.count), "A key has a limit.")
            let quoted = key.text.utf8.map { $0 == 0x22 || $0 == 0x5C ? [0x5C, $0] : [$0] }.joined()
            let written = "\"\(String(decoding: Array(quoted), as: UTF8.self))\""
            let again = try IdempotencyKey(request([.idempotencyKey: written]).headers)
            try promise(again?.text.utf8.elementsEqual(key.text.utf8) == true, "A key is read back: \(written)")
        },
        Reader(name: "event-stream") { bytes in
            let lines = text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            // Other characters do not come this far: the parser refuses them.
            let query = (lines.count > 2 ? Array(lines[2].utf8) : []).filter { $0 > 32 && $0 != 127 && $0 != 35 }
            var fields: HTTPFields = [.accept: lines[0]]
            if lines.count > 1 { fields[.lastEventID] = lines[1] }
            let asked = request(fields, path: "/v1/changes?\(text(query))")
            if asked.acceptsEvents {
                try promise(lines[0].asciiLowercased.contains("text/event-stream"), "Only who names it gets a stream.")
            }
            if let position = try? asked.position() { try promise(position >= 0, "A number is none below zero.") }
        },
        Reader(name: "door-report", check: doorReport),
    ]

    /// Whatever a body says, it is read as what it may be, or refused as a request.
    private static func doorRequest(_ bytes: [UInt8]) throws {
        guard let body = try? XMLReader.read(bytes, limits: .request) else { return }
        do {
            for isMinimal in [false, true] {
                let request = try PropertyRequest(body, isMinimal: isMinimal)
                try promise(Set(request.asked.map(\.name)).count == request.asked.count, "Each is answered once.")
                try promise(request.page(500) >= 10, "Something is answered at a time.")
            }
        } catch is DAVFault {}
        do {
            let update = try PropertyUpdate(body)
            try promise(Set(update.names).count == update.names.count, "Each name is there once.")
            try promise(update.set.count + update.removed.count <= update.names.count, "A name is set or removed.")
        } catch is DAVFault {}
        guard let report = Reports.named(PropertyName(body)) else { return }
        do {
            let weight = try report.init(body: body).weight
            try promise(weight <= 200 * bytes.count, "What is kept of \(bytes.count) bytes is bounded: \(weight)")
        } catch is DAVFault {}
    }

    /// A report's body, a zero, and an object that it looks at.
    private static func doorReport(_ bytes: [UInt8]) throws {
        guard let end = bytes.firstIndex(of: 0),
            let body = try? XMLReader.read(Array(bytes[..<end]), limits: .request)
        else { return }
        let object = Array(bytes[(end + 1)...])
        if let element = body.child(.caldav, "filter"), let filter = try? CalendarFilter(element) {
            let found = (0..<2).map { _ in
                ReportedObject(object, floatingIn: FixedOffset.utc).map { filter.holds(for: $0) }
            }
            try promise(found[0] == found[1], "A filter finds the same, whatever was read before.")
        }
        guard let element = body.child(.dav, "prop")?.child(.caldav, "calendar-data"),
            let request = try? CalendarDataRequest(element), !request.isWhole
        else { return }
        let texts = (0..<2).map { _ in try? request.text(of: object, floatingIn: FixedOffset.utc) }
        try promise(texts[0] == texts[1], "A text is the same, whatever was read before.")
        guard let text = texts[0] else { return }
        try promise(ObjectTree(text)?.text == text, "What is answered is read back.")
    }

    /// The result made from a text that a calendar app puts can be read.
    private static func doorObject(_ bytes: [UInt8]) throws {
        if let object = try? CalendarObjectCheck.checked(bytes) {
            try promise(!object.uid.isEmpty && !object.events.isEmpty, "An object has a UID and a component.")
            if let span = object.span { try promise(span.lowerBound <= span.upperBound, "A span has an order.") }
        }
        let range = TimeRange(from: Instant(seconds: 1_767_225_600), to: Instant(seconds: 1_798_761_600))
        var time = FreeBusyTime(in: range)
        guard (try? time.add(bytes, floatingIn: FixedOffset.utc)) != nil else { return }
        let periods = time.settled()
        for (index, period) in periods.enumerated() {
            try promise(
                range.from <= period.range.from && period.range.from < period.range.to
                    && period.range.to <= range.to, "A period is in the span: \(period)")
            let next = periods[(index + 1)...].first { $0.kind == period.kind }
            try promise(next.map { $0.range.from > period.range.to } ?? true, "Those that meet are one: \(period)")
        }
        let text = time.text(stamp: range.from)
        try promise(ObjectTree(text)?.text == text, "What is said of it is read back.")
    }
}
