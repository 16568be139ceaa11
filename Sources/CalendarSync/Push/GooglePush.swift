// SPDX-License-Identifier: Apache-2.0

/// Google's notifications: all of their data is in header fields, and the body is empty.
public enum GooglePush {
    /// Reports whether a request is a notification from Google.
    public static func isMeant(headers: [(name: String, value: String)]) -> Bool {
        headers.contains { $0.name.asciiLowercased == "x-goog-channel-id" }
    }

    /// Reads a notification; returns nil when it has no channel or no state, or has a field twice.
    public static func notice(headers: [(name: String, value: String)]) -> PushNotice? {
        func field(_ name: String) -> String? {
            let values = headers.filter { $0.name.asciiLowercased == name }
            return values.count == 1 ? PushNotice.text(values[0].value) : nil
        }
        guard let channel = field("x-goog-channel-id"), let state = field("x-goog-resource-state") else { return nil }
        // Any other state leads to a run, which finds out what it means: accepting only certain words would miss
        // changes.
        return PushNotice(
            channel: channel, secret: field("x-goog-channel-token").map(Concealed.init),
            what: state == "sync" ? .opened : .changed,
            resourceID: field("x-goog-resource-id") ?? "")
    }
}
