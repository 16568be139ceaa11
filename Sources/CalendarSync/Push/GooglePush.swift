// SPDX-License-Identifier: Apache-2.0

/// Google's notifications: everything is in their header fields, and the body is empty.
public enum GooglePush {
    /// Whether a request is one of Google's.
    public static func isMeant(headers: [(name: String, value: String)]) -> Bool {
        headers.contains { $0.name.asciiLowercased == "x-goog-channel-id" }
    }

    /// Reads a notification; nil when it names no channel or no state, or a field twice.
    public static func notice(headers: [(name: String, value: String)]) -> PushNotice? {
        func field(_ name: String) -> String? {
            let values = headers.filter { $0.name.asciiLowercased == name }
            return values.count == 1 ? PushNotice.text(values[0].value) : nil
        }
        guard let channel = field("x-goog-channel-id"), let state = field("x-goog-resource-state") else { return nil }
        // Whatever else a state is called, a run finds out what it means: to wait for a certain word is to miss changes.
        return PushNotice(
            channel: channel, secret: field("x-goog-channel-token").map(Secret.init),
            what: state == "sync" ? .opened : .changed,
            resourceID: field("x-goog-resource-id") ?? "")
    }
}
