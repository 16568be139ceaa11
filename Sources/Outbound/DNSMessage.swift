// SPDX-License-Identifier: Apache-2.0

/// The answers of a DNS message (RFC 1035 section 4), read as untrusted input: every length is checked, every pointer
/// must lead back, and the number of steps is limited.
struct DNSMessage {
    enum Kind: Int {
        case text = 16
        case service = 33
    }

    private let bytes: [UInt8]
    /// The positions of the data of the answers of class Internet, with their kinds.
    private var found: [(kind: Kind, data: Range<Int>)] = []

    /// The limits on the records of a message, and on the labels, jumps and bytes of a name.
    private static let mostRecords = 64
    private static let mostLabels = 128
    private static let mostJumps = 32
    private static let longestName = 253

    /// Returns nil for a message that is not a successful answer, or is not complete.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= 12, bytes[2] & 0x80 != 0, bytes[3] & 0x0F == 0 else { return nil }
        var position = 12
        for _ in 0..<number(at: 4) {
            guard let next = skipName(at: position), next + 4 <= bytes.count else { return nil }
            position = next + 4
        }
        for _ in 0..<min(number(at: 6), Self.mostRecords) {
            guard let next = skipName(at: position), next + 10 <= bytes.count else { return nil }
            let length = number(at: next + 8)
            let data = next + 10..<next + 10 + length
            guard data.upperBound <= bytes.count else { return nil }
            if number(at: next + 2) == 1, let kind = Kind(rawValue: number(at: next)) { found.append((kind, data)) }
            position = data.upperBound
        }
    }

    /// The SRV records with a host that can be looked up, in the order of RFC 2782 without its random choice: by
    /// priority, then by weight, the heaviest first.
    var services: [ServiceRecord] {
        found.compactMap { kind, data -> ServiceRecord? in
            guard kind == .service, data.count > 6, let target = name(at: data.lowerBound + 6), !target.isEmpty else {
                return nil
            }
            let port = number(at: data.lowerBound + 4)
            guard port > 0 else { return nil }
            return ServiceRecord(
                priority: number(at: data.lowerBound), weight: number(at: data.lowerBound + 2), port: port,
                target: target)
        }.sorted {
            ($0.priority, -$0.weight, ByteString($0.target)) < ($1.priority, -$1.weight, ByteString($1.target))
        }
    }

    /// The strings of the TXT records that are printable ASCII.
    var texts: [String] {
        found.flatMap { kind, data -> [String] in
            guard kind == .text else { return [] }
            var texts: [String] = []
            var index = data.lowerBound
            while index < data.upperBound {
                let end = index + 1 + Int(bytes[index])
                guard end <= data.upperBound else { break }
                let text = bytes[index + 1..<end]
                if text.allSatisfy({ $0 >= 32 && $0 < 127 }) { texts.append(String(decoding: text, as: UTF8.self)) }
                index = end
            }
            return texts
        }
    }

    private func number(at index: Int) -> Int { Int(bytes[index]) << 8 | Int(bytes[index + 1]) }

    /// Returns the position after a name.
    private func skipName(at start: Int) -> Int? {
        var position = start
        for _ in 0..<Self.mostLabels {
            guard position < bytes.count else { return nil }
            switch bytes[position] {
            case 0: return position + 1
            case 1...63: position += 1 + Int(bytes[position])
            case 192...255: return position + 2 <= bytes.count ? position + 2 : nil
            default: return nil
            }
        }
        return nil
    }

    /// Reads a name of letters, digits, hyphens and underscores; the root is an empty text.
    private func name(at start: Int) -> String? {
        var (index, jumps, text) = (start, 0, "")
        for _ in 0..<Self.mostLabels {
            guard index < bytes.count else { return nil }
            let length = Int(bytes[index])
            switch length {
            case 0: return text
            case 1...63:
                let end = index + 1 + length
                guard end <= bytes.count, text.utf8.count + 1 + length <= Self.longestName else { return nil }
                let label = bytes[index + 1..<end]
                let isPlain = label.allSatisfy {
                    $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 >= 48 && $0 <= 57 || $0 == 45 || $0 == 95
                }
                guard isPlain else { return nil }
                text += (text.isEmpty ? "" : ".") + String(decoding: label, as: UTF8.self).lowercased()
                index = end
            case 192...255:
                guard index + 2 <= bytes.count else { return nil }
                let target = number(at: index) & 0x3FFF
                jumps += 1
                // A pointer must lead back, so that no two can point to each other.
                guard target < index, jumps <= Self.mostJumps else { return nil }
                index = target
            default: return nil
            }
        }
        return nil
    }
}
