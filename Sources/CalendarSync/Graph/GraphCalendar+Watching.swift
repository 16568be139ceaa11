// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphCalendar {
    /// The requested lifetime of a subscription in minutes: below the lowest limit that Microsoft has had for events.
    private static let minutes = 4200
    /// The lifetime in minutes that is requested when even that is too long.
    private static let fewMinutes = 1400

    public func watch(
        _ calendar: String, address: String, secret: String
    ) async throws(ProviderFailure) -> WatchChannel? {
        guard GraphEvent.isID(calendar), secret.utf8.count <= 128 else {
            throw ProviderFailure(.refused, "Microsoft accepts a secret of at most 128 characters.")
        }
        let now = self.now()
        var answer = try await subscribe(calendar, address, secret, now.adding(seconds: Self.minutes * 60))
        if answer.has("ExtensionError") || answer.status == 400 && !answer.has("InvalidRequest") {
            // Our clock may be wrong, or the limit lower than before: use the server's clock and a shorter time.
            let theirs = answer.date.flatMap(Self.instant(httpDate:)) ?? now
            answer = try await subscribe(calendar, address, secret, theirs.adding(seconds: Self.fewMinutes * 60))
        }
        guard answer.isSuccess else {
            if answer.status == 400 {
                throw ProviderFailure(
                    .refused, "Microsoft could not reach the address for notifications.", code: answer.codes.first)
            }
            throw answer.failure
        }
        guard let id = answer.body["id"]?.string, GraphEvent.isID(id),
            let expiry = (answer.body["expirationDateTime"]?.string).flatMap({ Instant(rfc3339: $0) })
        else { throw ProviderFailure(.malformed, "Microsoft's subscription has no id or no end.") }
        return WatchChannel(id: id, expiresAt: expiry)
    }

    private func subscribe(
        _ calendar: String, _ address: String, _ secret: String, _ expiry: Instant
    ) async throws(ProviderFailure) -> GraphAnswer {
        try await wire.send(
            "POST", "/subscriptions",
            body: [
                "changeType": "created,updated,deleted", "notificationUrl": .string(address),
                "lifecycleNotificationUrl": .string(address), "clientState": .string(secret),
                // This is a text, not an address, so the id is not encoded.
                "resource": .string("me/calendars/\(calendar)/events"),
                "expirationDateTime": .string(expiry.description),
            ], prefer: "IdType=\"ImmutableId\"")
    }

    /// Reads `Sun, 22 Nov 2026 02:46:04 GMT` (RFC 9110 section 5.6.7).
    static func instant(httpDate text: String) -> Instant? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = text.pieces(separatedBy: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), let year = Int(words[3]),
            let month = months.firstIndex(where: { words[2] == $0 }),
            let date = CivilDate(year: year, month: month + 1, day: day)
        else { return nil }
        return Instant(rfc3339: "\(date)T\(words[4])Z")
    }

    public func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {
        let answer = try await wire.send("DELETE", "/subscriptions/\(PercentEncoding.encode(channel.id))", prefer: nil)
        guard answer.isSuccess || answer.status == 404 || answer.status == 410 else { throw answer.failure }
    }
}
