// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore

/// The OpenAPI 3.1 document of a table of routes.
struct OpenAPIDocument {
    let routes: [RouteTable.Route]
    let sections: [RouteTable.Section]
    let schemas: [ByteString: Schema]

    init(routes: [RouteTable.Route], sections: [RouteTable.Section], schemas: [ByteString: Schema]) {
        (self.routes, self.sections) = (routes, sections)
        self.schemas = routes.reduce(into: schemas) { schemas, route in
            guard let name = route.operation.bodySchemaName else { return }
            schemas[name] = schemas[name].map(route.operation.marked)
        }
    }

    var json: JSONValue {
        var paths: [ByteString: [ByteString: JSONValue]] = [:]
        for route in routes {
            paths[route.path, default: [:]][route.method.rawValue.lowercased()] = item(route)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Kalends", "version": .string(Program.version),
                "summary": "The calendar backend: schedules in, subscribable feeds out.",
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(
                sections.map { ["name": .string($0.name), "description": .string($0.about)] }),
            "paths": .object(paths.mapValues(JSONValue.object)),
            "components": [
                "schemas": .object(ClientForm(schemas).schemas),
                "securitySchemes": Self.securitySchemes,
            ],
        ]
    }

    private static let securitySchemes: JSONValue = [
        "serviceKey": [
            "type": "http", "scheme": "bearer",
            "description":
                "The host application's key, `kal_sk_…`. With `Kalends-User: <id>` the call has that user's rights.",
        ],
        "userToken": [
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "The host application's token for one of its users; `sub` is the user.",
        ],
        "session": [
            "type": "apiKey", "in": "cookie", "name": "kalends_session",
            "description":
                "A signed-in user's session; over https the name is `__Host-kalends_session`. The value may also be sent as Bearer.",
        ],
        "companion": [
            "type": "http", "scheme": "bearer",
            "description": "The token in the setting `companionSyncToken`, which gives access to one route.",
        ],
        "device": [
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Device <deviceToken>`: one registered device of one user.",
        ],
    ]

    private func item(_ route: RouteTable.Route) -> JSONValue {
        let operation = route.operation
        var item: [ByteString: JSONValue] = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "tags": [.string(route.section)], "x-access": .string(operation.access.text),
            "description": .string(
                [
                    operation.deprecation?.sentence, operation.details, "For: \(operation.access.text).",
                    operation.access.schemes.contains("serviceKey")
                        ? operation.need.scope.map {
                            "A key with scopes needs `\($0.rawValue)`."
                        }
                        : nil,
                ].compactMap { $0 }.joined(separator: "\n\n")),
            "responses": .object(responses(route)),
            "security": .array(operation.access.schemes.map { [$0: []] }),
        ]
        if operation.deprecation != nil { item["deprecated"] = true }
        let parameters = route.parameters
        if !parameters.isEmpty {
            item["parameters"] = .array(parameters.map { $0.json(operation.deprecation(of: $0)) })
        }
        if let body = operation.body {
            item["requestBody"] = [
                "required": .bool(body.isRequired),
                "content": .object(
                    Dictionary(
                        body.contents.map { ($0.type, ["schema": operation.marked($0.schema).value]) },
                        uniquingKeysWith: { first, _ in first })),
            ]
        }
        return .object(item)
    }

    /// The names of refusals' statuses in the registry of HTTP.
    private static let reasons = Dictionary(
        uniqueKeysWithValues: [
            HTTPResponse.Status.badRequest, .unauthorized, .forbidden, .notFound, .conflict, .gone, .preconditionFailed,
            .contentTooLarge, .unprocessableContent, .tooManyRequests, .serviceUnavailable, .insufficientStorage,
        ].map { ($0.code, $0.reasonPhrase) })

    private func responses(_ route: RouteTable.Route) -> [ByteString: JSONValue] {
        var answers: [ByteString: JSONValue] = [:]
        for reply in route.operation.replies {
            var answer: [ByteString: JSONValue] = ["description": .string(reply.text)]
            var names = reply.headers
            if route.operation.hasTag, reply.status < 300, reply.status != 204 { names.append("ETag") }
            if route.operation.deprecation != nil { names += Deprecation.fieldNames }
            if !names.isEmpty {
                answer["headers"] = .object(
                    Dictionary(
                        names.map { ($0, ["schema": ["type": "string"]]) }, uniquingKeysWith: { first, _ in first }))
            }
            if let type = reply.type {
                // One status may have several types.
                var content = answers[String(reply.status)]?["content"]?.object ?? [:]
                content[ByteString(type)] = reply.schema.map { ["schema": $0.value] } ?? [:]
                answer["content"] = .object(content)
            }
            answers[String(reply.status)] = .object(answer)
        }
        for status in route.refusals {
            // Calendar apps show the text of the answer, if anything, so it is a sentence.
            let isSentence = route.operation.access == .feedToken && route.operation.hasTag && status != 503
            let content: JSONValue =
                isSentence
                ? ["text/plain": ["schema": ["type": "string"]]]
                : ["application/problem+json": ["schema": Schema.named("Problem").value]]
            let known = answers[String(status)]
            answers[String(status)] = [
                "description": known?["description"] ?? .string(Self.reasons[status] ?? ""),
                "content": .object(
                    (known?["content"]?.object ?? [:]).merging(content.object ?? [:]) { own, _ in own }),
            ]
        }
        if route.operation.hasTag, route.method == .get {
            answers["304"] = ["description": "The client already has this version."]
        }
        return answers
    }
}

extension Operation.Parameter {
    fileprivate func json(_ deprecation: Deprecation?) -> JSONValue {
        var parameter: [ByteString: JSONValue] = [
            "name": .string(name), "in": .string(location.rawValue), "required": .bool(isRequired || location == .path),
            "schema": schema.value,
        ]
        if let deprecation {
            parameter["deprecated"] = true
            parameter["description"] = .string(deprecation.sentence)
        }
        return .object(parameter)
    }
}

extension Access {
    /// The security schemes, one of which is needed; empty when none is needed.
    var schemes: [String] {
        switch self {
        case .anyone, .feedToken, .operatorPages: []
        case .installation: ["serviceKey"]
        case .session: ["session"]
        case .device: ["device"]
        case .phone: ["serviceKey", "userToken", "session", "device"]
        case .companion: ["companion", "serviceKey", "userToken", "session", "device"]
        case .appPassword, .caller, .circle, .connection, .feed, .import, .user, .oneself:
            ["serviceKey", "userToken", "session"]
        }
    }
}
