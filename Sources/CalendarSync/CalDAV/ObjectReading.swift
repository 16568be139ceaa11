// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Reads calendar objects of other programs somewhere where their bytes can do no damage.
public protocol ObjectReading: Sendable {
    /// Returns the answers in the order of the questions.
    ///
    /// An object that cannot be read has an answer that says why; throws when objects cannot be read at all.
    func answers(to questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer]
}

/// A question to the process that reads objects of servers: what an object means, and its text after a change.
public struct ObjectQuestion: Hashable, Sendable, Codable {
    /// The change of an event, in which two entries differ.
    struct Change: Hashable, Sendable, Codable {
        var from: Entry
        var to: Entry
        var mark: EventMark
        var now: Instant
    }

    /// The object as the server returned it.
    public var text: [UInt8] = []
    /// The zone for times without a zone.
    var floatingZone: String
    var change: Change?

    init(text: [UInt8] = [], floatingZone: String, change: Change? = nil) {
        (self.text, self.floatingZone, self.change) = (text, floatingZone, change)
    }

    /// The text is not among these, since it need not be UTF-8.
    private enum CodingKeys: String, CodingKey { case floatingZone, change }

    /// Returns the answer, read in this process.
    public func answer() -> ObjectAnswer {
        let object: CalendarObject
        do throws(CalendarObject.Unreadable) {
            object = try CalendarObject(text, floatingZone: floatingZone)
        } catch {
            return ObjectAnswer(fault: error.message)
        }
        var answer = ObjectAnswer(uid: object.uid, property: object.property, seen: object.seen)
        switch object.entry {
        case .failure(let reason): (answer.fault, answer.isCancelled) = (reason.message, reason.isCancelled)
        case .success(let entry):
            answer.entry = entry
            guard let change else { break }
            let stamp = ObjectStamp(
                uid: object.uid, mark: change.mark, now: change.now, sequence: object.sequence + 1)
            answer.text = ObjectEdit(theirs: object, from: change.from, to: change.to, stamp: stamp).text()
        }
        return answer
    }
}

/// The meaning of an object.
public struct ObjectAnswer: Hashable, Sendable, Codable {
    var uid = ""
    /// The value of our own property.
    var property: String?
    /// The parts of the object that an entry cannot hold; nil when nothing in it can be read.
    var seen: CalDAVVersion.Seen?
    /// Nil together with a fault.
    var entry: Entry?
    /// Why the object cannot be expressed as an entry, as a sentence.
    var fault = ""
    /// Whether the whole event is cancelled, which counts as gone.
    var isCancelled = false
    /// The object's new text; nil when none was asked for, or it cannot be made.
    public var text: [UInt8]?

    /// The answer for an object that could not be read within the limits on time and memory.
    public static let beyondLimits = ObjectAnswer(fault: "The event could not be read within the limits.")

    private enum CodingKeys: String, CodingKey { case uid, property, seen, entry, fault, isCancelled }

    /// Whether all its times are within the years that can be computed with.
    ///
    /// Whoever answers has read a stranger's bytes, so the answer is a stranger's too.
    public var isSound: Bool {
        entry?.isSound ?? true
    }
}

extension ClientResource {
    /// Whether all its times are within the years that can be computed with.
    var isSound: Bool {
        (task?.due.map { TimeSpan.years.contains($0.seconds) } ?? true)
            && parts.compactMap(\.original).allSatisfy { TimeSpan.years.contains($0) } && entry?.isSound ?? true
    }
}

extension Entry {
    fileprivate var isSound: Bool {
        var spans = [span]
        for case .changed(let changed) in occurrences.values { spans.append(changed.span) }
        let instants = Array(occurrences.keys) + (repetition?.exdates ?? []) + (repetition?.rdates ?? [])
        return spans.allSatisfy(\.isSound) && instants.allSatisfy { TimeSpan.years.contains($0.seconds) }
            && reminders.allSatisfy { (0...TimeSpan.mostMinutes).contains($0) }
    }
}

extension TimeSpan {
    /// The seconds of the years 1 to 9999, and a day on either side.
    fileprivate static let years = -62_135_683_200...253_402_387_200
    /// The minutes of a thousand years.
    fileprivate static let mostMinutes = 525_960_000

    fileprivate var isSound: Bool {
        switch self {
        case .timed(let start, let end, _): Self.years.contains(start.seconds) && Self.years.contains(end.seconds)
        case .days(let first, let until): first < until
        }
    }
}
