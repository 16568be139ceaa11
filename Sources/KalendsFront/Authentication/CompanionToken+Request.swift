// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

extension CompanionToken {
    /// The token's user, if the request has the token as Bearer.
    func user(of request: Request) -> String? {
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.pieces(separatedBy: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].asciiLowercased == "bearer" else { return nil }
        return user(showing: parts[1].withoutOuterBlanks)
    }
}
