// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

@Suite("Values of types from JSON")
struct JSONDecodingTests {
    @Test("Foundation's decoder reads the same values, and refuses the same documents, of whatever shape")
    func foundation() throws {
        let edges = Shapes.Numbers(
            int: .min, int8: -128, int16: -32_768, int32: .min, int64: .max, uint: 0, uint8: 255, uint16: 65_535,
            uint32: .max, uint64: 9_223_372_036_854_775_807, float: 0.1, double: -1.7976931348623157e308)
        let leaf = Shapes.Tree(name: "ë", optional: nil, children: [])
        let tree = Shapes.Tree(name: "", optional: 7, children: [leaf, leaf])
        let choices: [Shapes.Choice] = [.none, .one(3), .named(text: "a", number: nil), .named(text: "", number: 0)]
        let nested = Shapes.ByHand(first: 1, second: ["x", nil, "y"], third: [[1, 2], []], last: true)
        let derived = Shapes.Derived(base: 5, own: "o")
        for outcome in [
            try DecodingOracle.compare([edges, Shapes.Numbers()], changes: 3000),
            try DecodingOracle.compare([tree, leaf]), try DecodingOracle.compare([choices]),
            try DecodingOracle.compare(choices), try DecodingOracle.compare([nested]),
            try DecodingOracle.compare([derived]), try DecodingOracle.compare([[1: "a", -7: "b"]]),
            try DecodingOracle.compare([["a": [1.5, nil], "b": []]]),
            try DecodingOracle.compare([[ByteString("é"): 1, ByteString("b"): 2]]),
            try DecodingOracle.compare([[Shapes.Colour.red: 1, .blue: 2]]),
            try DecodingOracle.compare([Set([Shapes.Colour.red])]),
            try DecodingOracle.compare([Date(timeIntervalSinceReferenceDate: 1234.5)]),
            try DecodingOracle.compare([[UUID()]]), try DecodingOracle.compare(["text", "", "\u{0}\u{1F600}"]),
            try DecodingOracle.compare([1, 0, -1]), try DecodingOracle.compare([true, false]),
            try DecodingOracle.compare([Int?.none, 4]), try DecodingOracle.compare([0.1, 1e-7, 1e21]),
        ] {
            #expect(outcome.differences == [])
            #expect(outcome.read > 0 && outcome.refused > 0)
        }
    }

    @Test("Numbers in whatever notation are those that Foundation's decoder reads")
    func notations() {
        var outcome = DecodingOracle.Outcome()
        for text in [
            "0", "-0", "-0.0", "30.0", "3e2", "3E+2", "25e-1", "2.50", "1e300", "1e400", "-1e400", "01", "1.", ".5",
            "+1", "9007199254740991.0", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "255.0",
            "256e0", "0.1e1", "1e-7", "\"1\"", "true", "null", "NaN", "[1]", "0x1",
        ] {
            for text in [text, "[\(text)]"] {
                let bytes = Array(text.utf8)
                DecodingOracle.compare(Int.self, bytes, &outcome)
                DecodingOracle.compare(UInt8.self, bytes, &outcome)
                DecodingOracle.compare(Int32.self, bytes, &outcome)
                DecodingOracle.compare(Double.self, bytes, &outcome)
                DecodingOracle.compare(Float.self, bytes, &outcome)
                DecodingOracle.compare(Int?.self, bytes, &outcome)
                DecodingOracle.compare([Int].self, bytes, &outcome)
                DecodingOracle.compare([Double?].self, bytes, &outcome)
            }
        }
        #expect(outcome.differences == [])
        #expect(outcome.read > 100)
    }

    @Test("A whole number that no double can represent is read exactly, in whatever notation")
    func rounding() throws {
        #expect(try UInt64(decodingJSON: "9223372036854775809".utf8) == 9_223_372_036_854_775_809)
        #expect(try Int(decodingJSON: "9007199254740993.0".utf8) == 9_007_199_254_740_993)
    }

    @Test(
        "What cannot be read is named with its place",
        arguments: [
            (#"{"name": 7, "children": []}"#, "/name: Another kind of value is expected here."),
            (#"{"name": "a", "children": [{"children": []}]}"#, "/children/0/name: This is missing."),
            (
                #"{"name": "a", "children": [{"name": "b", "optional": 1e3, "children": [null]}]}"#,
                "/children/0/children/0: Another kind of value is expected here."
            ),
            // Foundation does not say where the number is.
            (#"{"name": "a", "optional": 1.5, "children": []}"#, "This value does not fit here."),
            (
                #"{"name": "a", "optional": true, "children": {}}"#,
                "/optional: Another kind of value is expected here."
            ),
            (#"{"name": "a", "children": {}}"#, "/children: Another kind of value is expected here."),
            ("[]", "Another kind of value is expected here."),
            (#"{"name": "a", "name": "b", "children": []}"#, "/name: Line 1, column 15: This name is given twice."),
            (#"{"name": "a""#, "Line 1, column 13: The document ends where “,” or “}” is expected."),
        ])
    func places(_ text: String, _ description: String) throws {
        let fault = try #require(throws: JSONFault.self) { try Shapes.Tree(decodingJSON: text.utf8) }
        #expect("\(fault)" == description)
    }

    @Test("What a type refuses by itself keeps its own error, and a list that is too short its place")
    func ownErrors() throws {
        let fault = try #require(throws: JSONFault.self) {
            try Shapes.ByHand(decodingJSON: #"{"inner": {"first": 1}, "second": [], "third": [], "pair": []}"#.utf8)
        }
        #expect("\(fault)" == "/pair/0: Another kind of value is expected here.")
        #expect(throws: Shapes.Odd.Refused.self) { try [Shapes.Odd](decodingJSON: "[1, 2]".utf8) }
    }

    @Test("Nesting beyond the parser's depth is refused, whatever type is asked for")
    func depth() {
        var text = #"{"name": "", "children": []}"#
        for _ in 0..<40 { text = #"{"name": "", "children": ["# + text + "]}" }
        #expect(throws: JSONFault.self) { try Shapes.Tree(decodingJSON: text.utf8) }
    }
}

/// Types of every shape that Codable can ask for.
private enum Shapes {
    struct Numbers: Codable, Equatable {
        var int = 0
        var int8: Int8 = 0
        var int16: Int16 = 0
        var int32: Int32 = 0
        var int64: Int64 = 0
        var uint: UInt = 0
        var uint8: UInt8 = 0
        var uint16: UInt16 = 0
        var uint32: UInt32 = 0
        var uint64: UInt64 = 0
        var float: Float = 0
        var double = 0.0
    }

    struct Tree: Codable, Equatable {
        var name: String
        var optional: Int?
        var children: [Tree]
    }

    enum Choice: Codable, Equatable {
        case none
        case one(Int)
        case named(text: String, number: Int?)
    }

    enum Colour: String, Codable, CodingKeyRepresentable { case red, blue }

    /// A type that asks for each kind of container by hand.
    struct ByHand: Codable, Equatable {
        var first: Int
        var second: [String?]
        var third: [[Int]]
        var last: Bool

        private enum Keys: String, CodingKey { case inner, second, third, pair }
        private enum InnerKeys: String, CodingKey { case first }

        init(first: Int, second: [String?], third: [[Int]], last: Bool) {
            (self.first, self.second, self.third, self.last) = (first, second, third, last)
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            let inner = try members.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            first = try inner.decode(Int.self, forKey: .first)
            var texts = try members.nestedUnkeyedContainer(forKey: .second)
            second = []
            while !texts.isAtEnd { second.append(try texts.decodeNil() ? nil : try texts.decode(String.self)) }
            var lists = try members.nestedUnkeyedContainer(forKey: .third)
            third = []
            while !lists.isAtEnd {
                var list = try lists.nestedUnkeyedContainer()
                var numbers: [Int] = []
                while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
                third.append(numbers)
            }
            var pair = try members.superDecoder(forKey: .pair).unkeyedContainer()
            last = try pair.nestedContainer(keyedBy: InnerKeys.self).decodeIfPresent(Bool.self, forKey: .first) ?? false
            _ = try pair.superDecoder().singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Keys.self)
            var inner = members.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            try inner.encode(first, forKey: .first)
            try members.encode(second, forKey: .second)
            try members.encode(third, forKey: .third)
            var pair = members.superEncoder(forKey: .pair).unkeyedContainer()
            var object = pair.nestedContainer(keyedBy: InnerKeys.self)
            try object.encode(last, forKey: .first)
            try pair.encode(0)
        }
    }

    class Root: Codable {
        let base: Int

        init(base: Int) { self.base = base }
    }

    final class Derived: Root, Equatable {
        let own: String

        private enum CodingKeys: CodingKey { case own }

        init(base: Int, own: String) {
            self.own = own
            super.init(base: base)
        }

        required init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            own = try members.decode(String.self, forKey: .own)
            try super.init(from: members.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(own, forKey: .own)
            try super.encode(to: members.superEncoder())
        }

        static func == (a: Derived, b: Derived) -> Bool { a.base == b.base && a.own == b.own }
    }

    /// A type that reads only odd numbers.
    struct Odd: Decodable {
        struct Refused: Error {}

        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decode(Int.self) % 2 == 1 else { throw Refused() }
        }
    }
}
