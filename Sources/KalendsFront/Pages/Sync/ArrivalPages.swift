// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

/// The page at which a sign-in at a provider arrives that no browser's session began.
struct ArrivalPages: Sendable {
    func add(to routes: inout RouteTable) {
        // Whoever signed in at the provider may have no session here.
        routes.page(.get, ReturnAddress.codePage, for: .anyone, Self.page)
    }

    /// Answers with the code of a pending sign-in, or with how another one ended.
    static func page(_ visit: PageVisit) async throws -> Response {
        let result = visit.query["result"].flatMap(ReturnAddress.Result.init)
        let code = visit.query["code"].flatMap { Secret(.connectionCode, text: $0) }
        let state: ArrivalPage.State =
            switch (result, code) {
            case (.pending, let code?): .pending(code: code.reveal())
            case (.denied, _): .denied
            default: .failed
            }
        return try await visit.page(ArrivalPage(state: state), path: ReturnAddress.codePage)
    }
}
