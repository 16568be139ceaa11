// SPDX-License-Identifier: Apache-2.0

/// Graph's answer to one request, or to one of a batch.
struct GraphAnswer: Sendable {
    var status: Int
    var body: JSONValue
    /// Whole seconds, at most a day.
    var retryAfter: Int?
    /// When the answer was made, by the server's clock.
    var date: String?
    /// The holder of the body's memory, and the body's length in bytes.
    var room: (any Sendable)?
    var length = 0

    var isSuccess: Bool { (200...299).contains(status) }

    /// The codes of an error, the innermost first; Graph spells `innerError` in two ways.
    var codes: [String] {
        var codes: [String] = []
        var level = body["error"]
        for _ in 0..<8 {
            guard let error = level else { break }
            if let code = error["code"]?.string { codes.insert(code, at: 0) }
            level = error["innerError"] ?? error["innererror"]
        }
        return codes
    }

    func has(_ code: String) -> Bool {
        let wanted = code.asciiLowercased
        return codes.contains { $0.asciiLowercased == wanted }
    }

    /// The event id that a refusal of a repeated create names.
    var existingID: String? {
        let name = "@event.existingEventId"
        let id = body["error"]?[name]?.string ?? body["error"]?["innerError"]?[name]?.string
        return id.flatMap { GraphEvent.isID($0) ? $0 : nil }
    }

    static func retryAfter(_ text: String?) -> Int? {
        guard let text, (1...9).contains(text.utf8.count), let seconds = Int(text), seconds >= 0 else { return nil }
        return min(seconds, 86_400)
    }

    /// Why the request was not carried out.
    var failure: ProviderFailure {
        let code = codes.first
        func failure(_ kind: ProviderFailure.Kind, _ message: String) -> ProviderFailure {
            ProviderFailure(kind, message, code: code)
        }
        switch status {
        case 401: return failure(.unauthorized, "Microsoft no longer accepts the sign-in of this account.")
        case 403, 404:
            if has("MailboxNotEnabledForRESTAPI") || has("MailboxNotSupportedForRESTAPI") {
                return failure(.forbidden, "This Microsoft account has no calendar in Outlook.")
            }
            if has("ErrorQuotaExceeded") { return failure(.quotaExceeded, "The mailbox is full.") }
            return status == 403
                ? failure(.forbidden, "Microsoft does not allow this for the account.")
                : failure(.calendarMissing, "Outlook has no such calendar for this account now.")
        case 408, 504: return failure(.unavailable(retryAfter: retryAfter), "Microsoft did not answer in time.")
        case 409, 412:
            return failure(.unavailable(retryAfter: retryAfter), "The event was changed in Outlook meanwhile.")
        case 410: return failure(.cursorExpired, "Microsoft no longer knows where the last listing ended.")
        case 429: return failure(.throttled(retryAfter: retryAfter), "Microsoft asks for fewer requests.")
        case 507: return failure(.quotaExceeded, "The mailbox is full.")
        case 500...599: return failure(.unavailable(retryAfter: retryAfter), "Microsoft could not answer.")
        case 400 where has("SyncStateNotFound") || has("resyncRequired") || has("SyncStateInvalid"):
            return failure(.cursorExpired, "Microsoft no longer knows where the last listing ended.")
        case 400 where has("ErrorOccurrenceCrossingBoundary"):
            return failure(
                .needsSingleEvents, "Outlook does not let an occurrence move past the one before or after it.")
        case 400...499: return failure(.refused, "Outlook does not take this event as it is.")
        default: return failure(.malformed, "Microsoft returned an answer that cannot be understood.")
        }
    }
}

extension GraphAnswer {
    /// Reads an answer; throws `malformed` for a success that is not JSON.
    init(_ raw: ProviderAnswer) throws(ProviderFailure) {
        self.init(
            status: raw.status, body: .null, retryAfter: Self.retryAfter(raw.field("Retry-After")),
            date: raw.field("Date"), room: raw.room,
            length: raw.body.count)
        if raw.body.isEmpty { return }
        do {
            body = try JSONValue(parsing: raw.body)
        } catch {
            // An error page in front of Graph is not JSON, and its status says enough.
            guard !isSuccess else { throw ProviderFailure(.malformed, "Microsoft's answer is not valid JSON.") }
        }
    }
}
