// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import KalendsCore
@testable import KalendsFront

/// Checks every answer that any test gets against the server's own OpenAPI document.
struct DescribedAnswers: Sendable {
    /// A path of the document, with the names of its parts in braces.
    private struct Template {
        let parts: [Substring]
        let item: JSONValue

        var names: Int { parts.count { $0.hasPrefix("{") } }
    }

    /// The paths by how many parts they have; those with fewer names come first.
    private let templates: [Int: [Template]]
    private let schemas: SchemaCheck

    private init(_ document: JSONValue) {
        let all = (document["paths"]?.object ?? [:]).map { path, item in
            Template(parts: Self.parts(of: path.string), item: item)
        }
        templates = Dictionary(grouping: all.sorted { $0.names < $1.names }, by: \.parts.count)
        schemas = SchemaCheck(components: document["components"]?["schemas"]?.object ?? [:])
    }

    private static let shared = Mutex<[String: DescribedAnswers]>([:])

    /// Returns the checks of the document that the server publishes; all servers of this process with the same kinds of
    /// items share them.
    static func of(_ front: FrontServices) throws -> DescribedAnswers {
        let kinds = front.services.settings.kinds
        let names = kinds.list.map { $0.name }.joined(separator: " ")
        return try shared.withLock { known in
            if let known = known[names] { return known }
            let routes = try Routes.table(front, isLocal: false)
            let made = DescribedAnswers(
                OpenAPIDocument(
                    routes: routes.described, sections: routes.sections, schemas: Components.all(kinds)
                ).json)
            known[names] = made
            return made
        }
    }

    /// Returns how an answer differs from the document; nil when it is as described.
    func fault(_ method: HTTPRequest.Method, _ path: String, _ answer: Answer) -> String? {
        guard let item = item(of: path) else { return nil }
        // At a feed's address the document describes the feed alone; WebDAV's methods are not of the API.
        if path.hasPrefix("/feeds/"), method != .get, method != .head { return nil }
        // The request that a browser sends first belongs to Fetch, not to the API.
        if method == .options, answer.status == 204 { return nil }
        let label = "\(method) \(path.prefix(60)) → \(answer.status)"
        guard let operation = item[(method == .head ? .get : method).rawValue.lowercased()] else {
            return answer.status == 405 ? nil : "\(label): the document has no such method"
        }
        guard let response = operation["responses"]?[String(answer.status)] else {
            return "\(label): the document does not describe this status"
        }
        if method == .head || answer.body.isEmpty { return nil }
        let type = String((answer.headers[.contentType] ?? "").split(separator: ";").first ?? "")
        guard let content = response["content"]?[type] else {
            // Other forms of the calendar, and a feed's pages for a browser, are described in words.
            let isPage = path.hasPrefix("/feeds/") && type.isSameText(as: "text/html")
            return isPage || response["content"]?["text/calendar"] != nil ? nil : "\(label): \(type) is not described"
        }
        guard let schema = content["schema"], type.hasSuffix("json") else { return nil }
        return schemas.fault(answer.json, schema, at: "").map { "\(label): \($0)" }
    }

    private func item(of path: String) -> JSONValue? {
        let parts = Self.parts(of: path)
        return templates[parts.count]?.first { template in
            zip(template.parts, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }?.item
    }

    private static func parts(of path: String) -> [Substring] {
        path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
    }
}

/// The part of JSON Schema that our document uses; an unknown keyword is a fault, so that nothing is overlooked.
struct SchemaCheck: Sendable {
    let components: [ByteString: JSONValue]

    func fault(_ value: JSONValue, _ schema: JSONValue, at pointer: String) -> String? {
        if let reference = schema["$ref"]?.string {
            guard let named = components[String(reference.split(separator: "/").last ?? "")] else {
                return "\(pointer): \(reference) is not there"
            }
            return fault(value, named, at: pointer)
        }
        if let choices = schema["anyOf"]?.array {
            let faults = choices.map { fault(value, $0, at: pointer) }
            return faults.contains(nil) ? nil : faults.compactMap { $0 }.joined(separator: " and ")
        }
        if let choices = schema["oneOf"]?.array {
            let faults = choices.map { fault(value, $0, at: pointer) }
            if faults.count(where: { $0 == nil }) > 1 { return "\(pointer): \(value) fits more than one form" }
            return faults.contains(nil) ? nil : faults.compactMap { $0 }.joined(separator: " and ")
        }
        if let types = schema["type"]?.array ?? schema["type"].map({ [$0] }) {
            guard types.contains(where: { Self.fits(value, $0.string ?? "") }) else {
                return "\(pointer): \(value) is not \(types.map { $0.string ?? "" })"
            }
        }
        if let values = (schema["enum"] ?? schema["x-extensible-enum"])?.array, !values.contains(value) {
            return "\(pointer): \(value) is none of \(values)"
        }
        switch value {
        case .object(let members): return fault(members, schema, at: pointer)
        case .array(let items):
            guard let element = schema["items"] else { return nil }
            return items.enumerated().lazy.compactMap { fault($0.element, element, at: "\(pointer)/\($0.offset)") }
                .first
        case .integer(let number):
            let isIn = number >= schema["minimum"]?.integer ?? .min && number <= schema["maximum"]?.integer ?? .max
            return isIn ? nil : "\(pointer): \(number) is out of range"
        case .string(let text):
            if schema["format"]?.string == "date-time", (try? Date(text, strategy: .iso8601)) == nil,
                text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/) == nil
            {
                return "\(pointer): \(text) is no time"
            }
            return nil
        default: return nil
        }
    }

    private func fault(_ members: [ByteString: JSONValue], _ schema: JSONValue, at pointer: String) -> String? {
        let properties = schema["properties"]?.object ?? [:]
        for name in schema["required"]?.array?.compactMap(\.string) ?? [] where members[name] == nil {
            return "\(pointer)/\(name) is missing"
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            if let own = properties[name] ?? schema["additionalProperties"] {
                if let found = fault(value, own, at: "\(pointer)/\(name)") { return found }
            } else if schema["properties"] != nil {
                return "\(pointer)/\(name) is not described"
            }
        }
        return nil
    }

    private static func fits(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("string", .string), ("array", .array),
            ("object", .object), ("number", .integer), ("number", .number):
            true
        default: false
        }
    }
}
