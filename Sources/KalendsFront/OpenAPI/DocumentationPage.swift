// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore
import Mustache

/// The document as one page without scripts or external resources.
struct DocumentationPage {
    private let document: OpenAPIDocument

    init(_ document: OpenAPIDocument) { self.document = document }

    var html: String {
        let sections = document.sections.map { section in
            [
                "name": section.name, "about": section.about, "anchor": Self.anchor(section.name),
                "routes": document.routes.filter { $0.section == section.name }.map(Self.described),
            ] as [String: Any]
        }
        let schemas = document.schemas.sorted { $0.key < $1.key }.map { name, schema in
            Self.filled([
                "name": name, "about": schema.json["description"]?.string ?? "",
                "fields": schema.fields.map(Self.described), "example": Self.example(of: schema),
            ])
        }
        return Self.template.render([
            "version": Program.version, "sections": sections, "schemas": schemas,
        ])
    }

    /// Removes empty texts, which a template would show.
    private static func filled(_ values: [String: Any]) -> [String: Any] {
        values.filter { ($0.value as? String)?.isEmpty != true }
    }

    private static func described(_ route: RouteTable.Route) -> [String: Any] {
        let operation = route.operation
        return Self.filled([
            "method": route.method.rawValue, "path": route.path, "summary": operation.summary,
            "details": [operation.deprecation?.sentence, operation.details].compactMap { $0 }.joined(separator: " "),
            "access": operation.access.text, "id": operation.id,
            "parameters": route.parameters.filter { $0.location != .path }.map {
                [
                    "name": $0.name, "type": typeText($0.schema.value),
                    "about": [$0.schema.json["description"]?.string, operation.deprecation(of: $0)?.sentence]
                        .compactMap { $0 }.joined(separator: " "),
                    "place": $0.location.rawValue,
                ]
            },
            "bodies": (operation.body?.contents ?? []).map { ["type": $0.type].merging(shown($0.schema)) { $1 } },
            "replies": operation.replies.map {
                ["status": String($0.status), "text": $0.text].merging(shown($0.schema)) { $1 }
            },
            "refusals": route.refusals.map(String.init).joined(separator: ", "),
        ])
    }

    /// A schema as a link when it is named in the document, otherwise in words.
    private static func shown(_ schema: Schema?) -> [String: String] {
        guard let schema else { return [:] }
        let text = typeText(schema.value)
        return [schema.json["$ref"] == nil ? "schema" : "link": text]
    }

    private static func described(_ field: Schema.Field) -> [String: Any] {
        [
            "name": field.name, "type": typeText(field.schema.value), "isRequired": field.isRequired,
            "about": field.schema.json["description"]?.string ?? "",
        ]
    }

    private static func example(of schema: Schema) -> String {
        guard let example = schema.example, let text = try? example.text() else { return "" }
        return text
    }

    /// A schema in a few words: `text up to 200`, `list of Task`, `one of full, titles, busy`.
    private static func typeText(_ schema: JSONValue) -> String {
        if let name = schema["$ref"]?.string { return String(name.split(separator: "/").last ?? "") }
        if let choices = (schema["anyOf"] ?? schema["oneOf"])?.array {
            return choices.map(typeText).joined(separator: " or ")
        }
        if let values = (schema["enum"] ?? schema["x-extensible-enum"])?.array {
            return "one of " + values.map { $0.string ?? "null" }.joined(separator: ", ")
        }
        let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string ?? "anything"]
        let words = types.map { type in
            switch type {
            case "array": "list of " + (schema["items"].map(typeText) ?? "anything")
            case "integer":
                if let least = schema["minimum"]?.integer, let most = schema["maximum"]?.integer {
                    "whole number from \(least) to \(most)"
                } else {
                    "whole number"
                }
            case "string":
                switch (schema["format"]?.string, schema["maxLength"]?.integer) {
                case ("date-time", _): "time"
                case ("date", _): "day"
                case (_, let most?): "text up to \(most)"
                default: "text"
                }
            case "boolean": "true or false"
            case "object":
                schema["properties"]?.object.map { "{" + $0.keys.sorted().map(\.string).joined(separator: ", ") + "}" }
                    ?? "object"
            default: type
            }
        }
        return words.joined(separator: " or ")
    }

    private static func anchor(_ name: String) -> String {
        String(name.lowercased().map { $0.isLetter ? $0 : "-" })
    }
}
