// SPDX-License-Identifier: Apache-2.0

/// Graph's notifications: several in one body, of changes and of the subscriptions themselves.
public enum GraphPush {
    /// Bytes of a body that are read.
    public static let longestBody = 1 << 20
    /// Notices of one body that are taken.
    public static let mostNotices = 1000

    /// The token of a request that tests an address: it is answered within 10 seconds by 200 and the token itself, as
    /// `text/plain`. Nil when this is not such a request, or its token cannot be answered safely.
    ///
    /// - Parameter query: names and values as they are after decoding.
    public static func validationToken(query: [(name: String, value: String)]) -> String? {
        let tokens = query.filter { $0.name.asciiLowercased == "validationtoken" }
        guard tokens.count == 1, (1...4096).contains(tokens[0].value.utf8.count),
            tokens[0].value.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
        else { return nil }
        return tokens[0].value
    }

    /// Reads a body; nil when it is not what Graph sends.
    ///
    /// A notice without an id, or of a kind that is not known, is left out: the others count. Several about one
    /// subscription come as one of each kind, in order of first appearance.
    public static func notices(body: [UInt8]) -> [PushNotice]? {
        guard body.count <= longestBody, let json = try? JSONValue(parsing: body), let value = json["value"]?.array,
            value.count <= mostNotices
        else { return nil }
        var notices: [PushNotice] = []
        var seen: Set<PushNotice> = []
        for item in value {
            guard let channel = PushNotice.text(item["subscriptionId"]?.string), let what = what(item) else { continue }
            let notice = PushNotice(
                channel: channel, secret: PushNotice.text(item["clientState"]?.string).map(Secret.init), what: what)
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
