// SPDX-License-Identifier: Apache-2.0

/// A zone of the system's tzdata.
///
/// Offsets are in whole seconds, as in the file; since 1972 all zones have used whole minutes. Years after the file's
/// own changes follow the rule at its end, up to 2600.
public final class SystemTimeZone: TimeZoneRules {
    /// The last year whose changes are known individually.
    static let lastYear = 2600

    /// The IANA id by which the zone was requested; a link keeps its own name.
    public let identifier: String
    /// The offset before the first change.
    let firstOffset: Int
    /// Every change of the offset, in order; changes of only the name are left out.
    let transitions: [OffsetTransition]
    /// The rule that applies after the file's own changes.
    let tail: PosixTimeZone?
    private let onsets: [Int]

    /// Reads a TZif file (RFC 9636); nil when the bytes are not such a file.
    init?(identifier: String, tzif bytes: [UInt8]) {
        guard let file = TZifFile(bytes) else { return nil }
        self.identifier = identifier
        self.firstOffset = file.firstOffset
        self.tail = file.tail
        var all = file.transitions
        if let tail, tail.daylight != nil {
            let year = all.last.map { $0.at.utc.date.year } ?? 1970
            for year in year...Self.lastYear {
                all += tail.transitions(in: year).filter { new in all.last.map { $0.at < new.at } ?? true }
            }
        }
        self.transitions = all.filter { $0.offsetBefore != $0.offsetAfter }
        self.onsets = transitions.map(\.at.seconds)
    }

    public func offset(at instant: Instant) -> Int {
        let index = firstIndex(after: instant.seconds)
        return index == 0 ? firstOffset : transitions[index - 1].offsetAfter
    }

    /// The changes within a span of time, in order.
    func transitions(from: Instant, to: Instant) -> ArraySlice<OffsetTransition> {
        transitions[
            firstIndex(after: from.seconds)..<max(firstIndex(after: from.seconds), firstIndex(after: to.seconds))]
    }

    /// The index of the first change after a time.
    private func firstIndex(after seconds: Int) -> Int {
        var low = 0
        var high = onsets.count
        while low < high {
            let middle = (low + high) / 2
            if onsets[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The contents of a TZif file (RFC 9636): its 64-bit block and the rule in its footer.
private struct TZifFile {
    var firstOffset = 0
    var transitions: [OffsetTransition] = []
    var tail: PosixTimeZone?

    init?(_ bytes: [UInt8]) {
        guard bytes.count <= 1 << 20, let first = Header(bytes, at: 0) else { return nil }
        let start: Int
        let wide: Bool
        if first.version >= UInt8(ascii: "2") {
            start = 44 + first.bodyLength(timeSize: 4)
            wide = true
        } else {
            start = 0
            wide = false
        }
        guard let header = Header(bytes, at: start) else { return nil }
        let timeSize = wide ? 8 : 4
        let body = start + 44
        guard body + header.bodyLength(timeSize: timeSize) <= bytes.count, header.typeCount > 0 else { return nil }
        func integer(_ offset: Int, _ size: Int) -> Int {
            var value: UInt64 = 0
            for index in 0..<size { value = value << 8 | UInt64(bytes[offset + index]) }
            return size == 8 ? Int(Int64(bitPattern: value)) : Int(Int32(truncatingIfNeeded: value))
        }
        let indices = body + header.timeCount * timeSize
        let types = indices + header.timeCount
        let names = types + header.typeCount * 6
        func offset(_ type: Int) -> Int { integer(types + type * 6, 4) }
        func abbreviation(_ type: Int) -> String {
            let from = names + Int(bytes[types + type * 6 + 5])
            guard from < names + header.charCount else { return "" }
            return String(decoding: bytes[from..<names + header.charCount].prefix { $0 != 0 }, as: UTF8.self)
        }
        firstOffset = offset(0)
        var current = firstOffset
        for index in 0..<header.timeCount {
            let type = Int(bytes[indices + index])
            guard type < header.typeCount else { return nil }
            let at = integer(body + index * timeSize, timeSize)
            transitions.append(
                OffsetTransition(
                    at: Instant(seconds: at), offsetBefore: current, offsetAfter: offset(type),
                    abbreviation: abbreviation(type)))
            current = offset(type)
        }
        if wide {
            let footer = bytes[(body + header.bodyLength(timeSize: 8))...]
            let text = footer.dropFirst().prefix { $0 != 10 }
            if footer.first == 10, !text.isEmpty { tail = PosixTimeZone(String(decoding: text, as: UTF8.self)) }
        }
    }

    private struct Header {
        let version: UInt8
        let isUtcCount, isStdCount, leapCount, timeCount, typeCount, charCount: Int

        init?(_ bytes: [UInt8], at start: Int) {
            guard bytes.count >= start + 44, bytes[start..<start + 4].elementsEqual("TZif".utf8) else { return nil }
            version = bytes[start + 4]
            let counts = (0..<6).map { field in
                (0..<4).reduce(0) { $0 << 8 | Int(bytes[start + 20 + field * 4 + $1]) }
            }
            guard counts.allSatisfy({ $0 <= 1 << 16 }) else { return nil }
            (isUtcCount, isStdCount, leapCount) = (counts[0], counts[1], counts[2])
            (timeCount, typeCount, charCount) = (counts[3], counts[4], counts[5])
        }

        func bodyLength(timeSize: Int) -> Int {
            timeCount * (timeSize + 1) + typeCount * 6 + charCount + leapCount * (timeSize + 4) + isStdCount
                + isUtcCount
        }
    }
}
