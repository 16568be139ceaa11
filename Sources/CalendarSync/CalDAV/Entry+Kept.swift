// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension Entry {
    /// Whether it is certain that the entry is read back unchanged: a single event with usual times and texts.
    ///
    /// Writing an entry and reading it again gives the answer for any entry, but takes most of the time of a run in
    /// which nothing has changed. False means that it is not known.
    var isKeptByCalDAV: Bool {
        repetition == nil && occurrences.isEmpty && span.isKeptByCalDAV
            && reminders.count <= 16 && reminders.allSatisfy { (0...525_600).contains($0) }
            && title.isKeptByCalDAV(inLines: false) && location.isKeptByCalDAV(inLines: false)
            && notes.isKeptByCalDAV(inLines: true)
    }
}

extension TimeSpan {
    /// The instants from 2024 to 2060, in seconds since 1970.
    private static let usual = 1_704_067_200..<2_840_140_800

    fileprivate var isKeptByCalDAV: Bool {
        switch self {
        case .days(let first, let until):
            return first < until && Self.usual.contains(first.daysSinceEpoch * 86_400)
                && Self.usual.contains(until.daysSinceEpoch * 86_400)
        case .timed(let start, let end, let name):
            guard start < end, Self.usual.contains(start.seconds), Self.usual.contains(end.seconds) else {
                return false
            }
            let zone = SyncZone(name)
            if name.isSameText(as: SyncZone.utc) { return true }
            // Old names, such as GMT and EST, are read as other names.
            guard zone.name.isSameText(as: name), name.utf8.contains(UInt8(ascii: "/")) else { return false }
            // The second of two equal local times is written in UTC.
            return [start, end].allSatisfy { if case .zoned = zone.time($0) { true } else { false } }
        }
    }
}

extension String {
    /// Reports whether a text has only letters, digits, signs and single spaces that no reader or writer of calendars
    /// changes.
    fileprivate func isKeptByCalDAV(inLines: Bool) -> Bool {
        var previous: UInt32 = 32
        guard utf8.count <= 8_192, !isEmpty else { return isEmpty }
        for scalar in unicodeScalars {
            let value = scalar.value
            switch value {
            case 10 where inLines && previous != 32 && previous != 10: break
            case 32 where previous != 32 && previous != 10: break
            case 33...126, 0xA1...0x2FF, 0x370...0x1FFF, 0x2010...0x2027, 0x20A0...0x20BF, 0x3001...0xD7FF,
                0x1_F300...0x1_FAFF:
                break
            default: return false
            }
            previous = value
        }
        return previous != 32 && previous != 10
    }
}
