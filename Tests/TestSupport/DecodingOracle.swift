// SPDX-License-Identifier: Apache-2.0

internal import Base
internal import Foundation

/// Compares the values that this project reads from JSON with those of Foundation's decoder.
public enum DecodingOracle {
    /// The numbers of documents that both decoders read, and the documents on which they differ.
    public struct Outcome {
        public var read = 0
        public var refused = 0
        public var differences: [String] = []

        public init() {}
    }

    /// Reads Foundation's JSON of each sample, unchanged and with changes: other values of the same kind, values of
    /// other kinds, and missing members and elements.
    ///
    /// - Parameter changes: how many changed documents are made from each sample.
    public static func compare<Value: Codable & Equatable>(
        _ samples: [Value], changes: Int = 300, seed: UInt64 = 1
    ) throws -> Outcome {
        var outcome = Outcome()
        var random = SplitMix(seed: seed)
        for sample in samples {
            let text = [UInt8](try JSONEncoder().encode(sample))
            compare(Value.self, text, &outcome)
            if (try? Value(decodingJSON: text)) != sample {
                outcome.differences.append("It does not come back: \(String(decoding: text, as: UTF8.self))")
            }
            let document = try JSONValue(parsing: text)
            for _ in 0..<changes {
                var changed = document
                // Of several changes the first that is refused hides the others.
                for _ in 0...random.below(3) { change(&changed, &random) }
                compare(Value.self, try changed.serialized(), &outcome)
            }
        }
        return outcome
    }

    /// Reads one document with both decoders.
    public static func compare<Value: Decodable & Equatable>(
        _ type: Value.Type, _ text: [UInt8], _ outcome: inout Outcome
    ) {
        let ours = Result { try Value(decodingJSON: text) }
        let theirs = Result { try JSONDecoder().decode(Value.self, from: Data(text)) }
        switch (ours, theirs) {
        case (.success(let ours), .success(let theirs)) where ours == theirs: outcome.read += 1
        case (.failure, .failure): outcome.refused += 1
        default:
            outcome.differences.append("\(type) of \(String(decoding: text, as: UTF8.self)): \(ours) and \(theirs)")
        }
    }

    /// Changes one place of a document; all places are roughly equally likely.
    private static func change(_ value: inout JSONValue, _ random: inout SplitMix) {
        switch value {
        case .object(var members) where !members.isEmpty && random.below(12) > 0:
            guard let name = members.keys.sorted().randomElement(using: &random), var member = members[name] else {
                return
            }
            switch random.below(8) {
            case 0: members[name] = nil
            case 1: members["later"] = [1, nil]
            default:
                change(&member, &random)
                members[name] = member
            }
            value = .object(members)
        case .array(var items) where !items.isEmpty && random.below(12) > 0:
            let index = random.below(items.count)
            switch random.below(8) {
            case 0: items.remove(at: index)
            case 1: items.append(items[index])
            default: change(&items[index], &random)
            }
            value = .array(items)
        case .integer where random.below(3) > 0: value = number(&random)
        case .string where random.below(3) > 0: value = text(&random)
        case .bool(let flag) where random.below(3) > 0: value = .bool(!flag)
        default:
            value =
                switch random.below(7) {
                case 0: .null
                case 1: .bool(true)
                case 2: number(&random)
                case 3: text(&random)
                case 4: []
                case 5: [:]
                default: [[:], 1, "x"]
                }
        }
    }

    private static func number(_ random: inout SplitMix) -> JSONValue {
        let edges: [JSONValue] = [
            0, 1, -1, 127, 128, -129, 255, 256, 32_768, 65_536, 2_147_483_648, 4_294_967_296, .integer(.max),
            .integer(.min), .integer(9_007_199_254_740_993), .number(1.5), .number(-0.1), .number(1e300),
            .number(.leastNonzeroMagnitude),
        ]
        return random.below(2) == 0
            ? .integer(Int(truncatingIfNeeded: random.next()) >> random.below(64))
            : edges[random.below(edges.count)]
    }

    private static func text(_ random: inout SplitMix) -> JSONValue {
        let texts = [
            "", "x", "UTC", "2026-02-30", "2026-03-01", "09:00", "a \"b\" \\ /\n\r\t\u{1}\u{7F}", "é👩‍👩‍👧\u{2028}",
        ]
        return .string(texts[random.below(texts.count)])
    }
}
