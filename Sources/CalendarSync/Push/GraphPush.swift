// SPDX-License-Identifier: Apache-2.0

/// Graph's notifications: several in one body, about changes and about the subscriptions themselves.
public enum GraphPush {
    /// The maximum size in bytes of a body.
    public static let longestBody = 1 << 20
    /// The maximum number of notices in one body.
    public static let mostNotices = 1000

    /// Returns the token of a request that tests an address, to be answered within 10 seconds by 200 and the token
    /// itself, as `text/plain`; nil when this is not such a request, or when its token cannot be sent back safely.
    ///
    /// - Parameter query: the decoded names and values.
    public static func validationToken(query: [(name: String, value: String)]) -> String? {
        let tokens = query.filter { $0.name.asciiLowercased == "validationtoken" }
        guard tokens.count == 1, (1...4096).contains(tokens[0].value.utf8.count),
            tokens[0].value.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
        else { return nil }
        return tokens[0].value
    }

    /// Reads a body; returns nil when it does not have the form that Graph sends.
    ///
    /// A notice without an id, or of an unknown kind, is left out, and the others count. Several notices about one
    /// subscription become one of each kind, in order of first appearance.
    public static func notices(body: [UInt8]) -> [PushNotice]? {
        guard body.count <= longestBody, let json = try? JSONValue(parsing: body), let value = json["value"]?.array,
            value.count <= mostNotices
        else { return nil }
        var notices: [PushNotice] = []
        var seen: Set<PushNotice> = []
        for item in value {
            guard let channel = PushNotice.text(item["subscriptionId"]?.string), let what = what(item) else { continue }
            let notice = PushNotice(
                channel: channel, secret: PushNotice.text(item["clientState"]?.string).map(Concealed.init), what: what)
            if seen.insert(notice).inserted { notices.append(notice) }
        }
        return notices
    }

    private static func what(_ item: JSONValue) -> PushNotice.What? {
        switch item["lifecycleEvent"] {
        case nil, .null:
            switch item["changeType"]?.string {
            case "created", "updated", "deleted": .changed
            default: nil
            }
        case "reauthorizationRequired": .renewalWanted
        case "subscriptionRemoved": .ended
        case "missed": .missed
        default: nil
        }
    }
}
