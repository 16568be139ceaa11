// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Testing

@testable import KalendsCore
@testable import KalendsFront

@Suite("Bodies of requests that are described once")
struct InputBodyTests {
    private enum Color: String, CaseIterable { case red, blue }

    private static let body = InputBody(
        .required("name", .text(5)), .optional("color", InputType<Color>.choice), .edited("zone", .timeZone),
        .number("seconds", 0...60, or: 30, "How long."),
        .optional(
            "ids",
            InputType.list(
                .array(of: .identifier), of: 1...2, .tooMany, "One or two ids.", each: (.invalidID, Identifier.rule)
            ) { $0.string.flatMap { Identifier.isValid($0) ? $0 : nil } }),
        ignoring: ["createdAt"], example: ["name": "A"])

    private static func faults(_ json: JSONValue) -> [String] {
        do {
            _ = try body.read(json)
            return []
        } catch {
            return ((error as? Refusal)?.faults ?? FaultList()).map { "\($0.pointer) \($0.code.rawValue)" }
        }
    }

    @Test("Members are read in their types; one that is missing has its default")
    func values() throws {
        let (name, color, zone, seconds, ids) = try Self.body.read(["name": "A", "createdAt": 1])
        #expect(name == "A" && color == nil && seconds == 30 && ids == nil)
        guard case .keep = zone else { throw Refusal.badRequest("The zone is changed.") }
        let given = try Self.body.read([
            "name": "B", "color": "blue", "zone": "Europe/Berlin", "seconds": 0, "ids": ["x", "y"],
        ])
        #expect(given.0 == "B" && given.1 == .blue && given.3 == 0 && given.4 == ["x", "y"])
        #expect(given.2.applied(to: nil)?.identifier == "Europe/Berlin")
        let cleared = try Self.body.read(["name": "B", "zone": .null, "color": .null])
        #expect(cleared.2.applied(to: TimeZoneReference("Europe/Berlin")) == nil && cleared.1 == nil)
    }

    @Test("All faults are named with their places, those of a list by element, and so is what nobody knows")
    func pointers() {
        #expect(Self.faults([:]) == ["/name required"])
        #expect(Self.faults(["name": "abcdef", "color": "green"]) == ["/name too-long", "/color not-a-choice"])
        #expect(Self.faults(["name": "", "seconds": 61]) == ["/name empty", "/seconds out-of-range"])
        #expect(
            Self.faults(["name": "A", "ids": ["x", "a b"], "other": 1]) == [
                "/ids/1 invalid-id", "/other unknown-field",
            ])
        #expect(Self.faults(["name": "A", "ids": []]) == ["/ids too-many"])
        #expect(Self.faults([]) == [" wrong-type", "/name required"])
    }

    @Test("The schema has the same members, with what is required, the default, the bounds and null")
    func schema() {
        let schema = Self.body.schema
        #expect(schema.json["required"] == ["name"] && schema.json["additionalProperties"] == false)
        let properties = schema.json["properties"]
        #expect(properties?["name"] == JSONSchema.text(5).value)
        #expect(properties?["color"] == JSONSchema.choice(Color.self).orNull.value)
        #expect(
            properties?["seconds"]
                == JSONSchema.integer(0...60).defaulting(to: 30).described("How long.").orNull.value)
        #expect(schema.fields.map(\.name).count == 5 && schema.example == ["name": "A"])
    }

    /// A schema without the texts for people and the announcement that it goes, which may change at any time, and without
    /// lists of words, which may grow.
    private static func plain(_ json: JSONValue?) -> JSONValue? {
        switch json {
        case .object(let members)?:
            .object(
                members.filter {
                    ($0.key != "description" || $0.value.string == nil) && !["enum", "deprecated"].contains($0.key)
                }
                .compactMapValues(plain))
        case .array(let elements)?: .array(elements.compactMap(plain))
        default: json
        }
    }

    /// All words that a schema lists.
    private static func words(_ json: JSONValue?) -> Set<ByteString> {
        switch json {
        case .object(let members)?:
            members.reduce(into: []) { words, member in
                if member.key == "enum" {
                    words.formUnion(member.value.array?.compactMap { $0.string.map { ByteString($0) } } ?? [])
                } else {
                    words.formUnion(Self.words(member.value))
                }
            }
        case .array(let elements)?: elements.reduce(into: []) { $0.formUnion(words($1)) }
        default: []
        }
    }

    @Test("What the kept document says of a body, this version says too")
    func kept() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "API/released-openapi.json")
        let document = try JSONValue(parsing: Array(try Data(contentsOf: file)))
        let kept = try #require(document["components"]?["schemas"]?.object)
        var compared = 0
        for (name, schema) in ClientForm(Components.all(.all)).schemas where schema["additionalProperties"] == false {
            guard let before = kept[name] else { continue }
            compared += 1
            #expect(before["required"] == schema["required"], "\(name)")
            for (member, json) in before["properties"]?.object ?? [:] {
                let now = schema["properties"]?[member.string]
                #expect(Self.plain(now) == Self.plain(json), "\(name)/\(member)")
                #expect(Self.words(json).isSubset(of: Self.words(now)), "\(name)/\(member)")
            }
        }
        #expect(compared > 30)
    }
}
