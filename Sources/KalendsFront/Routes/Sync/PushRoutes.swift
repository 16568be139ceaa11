// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Storage

/// The addresses to which providers report changes in a calendar. A report only causes a check; every sender, known or
/// not, gets the same answer.
struct PushRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        for (id, path) in [
            ("reportChange", "/functions/v1/calendar-webhook"), ("reportGoogleChange", "/v1/hooks/google"),
            ("reportOutlookChange", "/v1/hooks/outlook"),
        ] {
            var operation = Operation(
                id, "Where a provider reports changes", .anyone, .noKey,
                details: "For Google's header fields (`X-Goog-Channel-ID`, `X-Goog-Channel-Token`, "
                    + "`X-Goog-Resource-State` and `X-Goog-Resource-ID`, with an empty body) and Microsoft Graph's "
                    + "JSON alike. A report counts only with its channel's secret; the answer is the same without it.",
                query: [.init(name: "validationToken", schema: Self.token)],
                body: Operation.Body(contents: [("application/json", Self.document)], isRequired: false),
                [
                    Operation.Reply(
                        status: 200, text: "Accepted; or the token of a request that tests the address.",
                        type: "text/plain", schema: .string),
                    Operation.Reply(status: 202, text: "Accepted."),
                ], refusals: [400])
            // Providers may add any parameters to the address.
            operation.takesAnyQuery = true
            routes.on(.post, path, operation, report)
        }
    }

    /// The token of a request that tests the address, which is returned unchanged.
    private static let token = Schema(["type": "string", "minLength": 1, "maxLength": 4096])

    /// Microsoft Graph's change and lifecycle notifications. A notification without an id, or of another kind, is
    /// ignored.
    private static let document = Schema([
        "type": "object", "required": ["value"],
        "properties": [
            "value": [
                "type": "array", "maxItems": .integer(GraphPush.mostNotices),
                "items": [
                    "type": "object",
                    "properties": [
                        "subscriptionId": ["type": "string"], "clientState": ["type": "string"],
                        "changeType": ["type": "string"], "lifecycleEvent": ["type": ["string", "null"]],
                    ],
                ],
            ]
        ],
    ]).with(
        example: [
            "value": [["subscriptionId": "s", "clientState": "the secret", "changeType": "updated"]]
        ])

    private func report(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let query = request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) }
        if let token = GraphPush.validationToken(query: query) {
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: token)))
        }
        if query.contains(where: { $0.name.asciiLowercased == "validationtoken" }) { throw Self.unreadable }
        let headers = request.headers.map { (name: $0.name.rawName, value: $0.value) }
        if GooglePush.isMeant(headers: headers) {
            guard let notice = GooglePush.notice(headers: headers) else { throw Self.unreadable }
            try await services.changeReports.take([notice], from: .google)
            return Response(status: .ok, headers: [.cacheControl: "no-store"])
        }
        let bytes = try await request.bytes(
            limit: GraphPush.longestBody, times: Request.documentFactor, context)
        guard let notices = GraphPush.notices(body: bytes) else { throw Self.unreadable }
        try await services.changeReports.take(notices, from: .outlook)
        return Response(status: .accepted, headers: [.cacheControl: "no-store"])
    }

    private static let unreadable = Refusal.badRequest("This is not a report from Google or Microsoft Graph.")
}
