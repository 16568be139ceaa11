// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import ICalBridge

@Suite("Twice as much of a hazard takes at most twice the time, and no more room", .ownThread)
struct HazardScalingTests {
    /// How long a reading may take before no larger one is tried.
    private static let patience: Duration = .milliseconds(40)
    /// The shortest time that is compared: below it, the clock and the caches are measured.
    private static let measurable: Duration = .milliseconds(2)
    private static let largest = 131_072

    @Test("Read at once", arguments: HazardShape.all)
    func whole(shape: HazardShape) {
        var options = CalendarReader.Options(limits: .large)
        // The time of this thread is what is measured.
        options.threads = 1
        let reader = CalendarReader(options: options)
        Self.expectLinear(shape) { bytes in
            let reading = reader.read(bytes)
            #expect(Self.size(of: reading) < 14 * bytes.count + 3_000_000, "\(shape.name)")
        }
    }

    @Test("Read in small parts", arguments: HazardShape.all)
    func streamed(shape: HazardShape) {
        var options = CalendarReader.Options(limits: .large)
        options.threads = 1
        options.partSize = 2000
        let reader = CalendarReader(options: options)
        Self.expectLinear(shape) { bytes in
            _ = try? reader.stream(
                rereading: {
                    var start = 0
                    return {
                        guard start < bytes.count else { return nil }
                        defer { start += 1500 }
                        return Array(bytes[start..<min(start + 1500, bytes.count)])
                    }
                }, { _ in })
        }
    }

    private static func expectLinear(_ shape: HazardShape, _ work: ([UInt8]) -> Void) {
        _ = keepsMemory
        // A neighbour on the machine makes one measurement longer, and a square makes each of them longer.
        var excess: String?
        for _ in 0..<4 {
            excess = Self.excess(shape, work)
            if excess == nil { break }
        }
        #expect(excess == nil)
    }

    /// Returns where doubling the hazard took more than twice the time; nil when it did nowhere.
    private static func excess(_ shape: HazardShape, _ work: ([UInt8]) -> Void) -> String? {
        var count = 512
        var bytes = shape.make(count)
        var time = effort { work(bytes) }
        var first: (time: Duration, doublings: Double)?
        while count < largest, time < patience {
            let doubled = shape.make(count * 2)
            var longer = effort { work(doubled) }
            // The shortest of some is the reader's own.
            var tries = 0
            while time >= measurable, longer > time * 2.2, tries < 12 {
                time = min(time, effort { work(bytes) })
                longer = min(longer, effort { work(doubled) })
                tries += 1
            }
            if time >= measurable {
                let start = first ?? (time, 0)
                first = (start.time, start.doublings + 1)
                // Once what is read no longer fits the caches, a doubling takes a little more; a square takes four.
                if longer > time * 3 { return "\(shape.name): \(count * 2) take \(longer), \(count) take \(time)" }
            }
            (count, bytes, time) = (count * 2, doubled, longer)
        }
        // A mean of fewer says no more than each of them did.
        guard let first, first.doublings >= 3 else { return nil }
        let mean = pow(time / first.time, 1 / first.doublings)
        return mean <= 2.2
            ? nil : "\(shape.name): \(mean) for each of \(first.doublings) doublings up to \(count)"
    }

    /// Returns roughly the bytes of a reading.
    private static func size(of reading: CalendarReading) -> Int {
        func size(_ lines: [ContentLine]) -> Int {
            lines.reduce(0) { sum, line in
                sum + 80 + line.value.utf8.count + line.parameters.reduce(0) { $0 + 40 + 20 * $1.values.count }
            }
        }
        let events = reading.events.reduce(0) { sum, event in
            let texts = [event.uid, event.summary ?? "", event.description ?? "", event.location ?? ""]
            return sum + 600 + texts.reduce(0) { $0 + $1.utf8.count } + size(event.otherProperties)
                + event.recurrence.exclusions.count * 64 + event.categories.count * 16 + event.alarms.count * 100
        }
        let problems = reading.problems.reduce(0) { $0 + 100 + $1.message.utf8.count + ($1.text?.utf8.count ?? 0) }
        return events + problems + reading.calendars.count * 200
    }
}
