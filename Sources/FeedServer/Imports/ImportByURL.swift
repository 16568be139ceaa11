// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// An import whose file is named by an address in place of being sent: `{"url": …}`.
///
/// The address is used once and kept nowhere.
struct ImportByURL: Sendable {
    let fetcher: GuardedFetcher

    /// The file that a request names; nil when the request holds the file itself.
    ///
    /// Throws 422 with the pointer `/url` when it cannot be had.
    func upload(_ request: Request, limit: Int, _ admission: ImportDesk.Admission) async throws -> ImportUpload? {
        let type = (request.headers[.contentType] ?? "").prefix { $0 != ";" }.filter { !$0.isWhitespace }
        guard type.lowercased() == "application/json" else { return nil }
        // A calendar in JSON is an array (RFC 7265 section 3.2); all else is a document, and short.
        var (body, isCalendar): ([UInt8], Bool) = ([], false)
        for try await buffer in request.body {
            if !isCalendar, body.allSatisfy(Self.isSpace) {
                isCalendar = buffer.readableBytesView.first { !Self.isSpace($0) } == UInt8(ascii: "[")
            }
            let limit = isCalendar ? limit : min(limit, Request.jsonLimit)
            guard body.count + buffer.readableBytes <= limit else { throw Refusal.tooLarge(limit: limit) }
            try admission.grow(by: buffer.readableBytes)
            body.append(contentsOf: buffer.readableBytesView)
        }
        if isCalendar { return try ImportUpload(body) }
        let document = try Request.document(body)
        var fields = FieldReader(document)
        let text = fields.text("url", isRequired: true, maximum: 8192)
        fields.finish()
        try fields.check()
        guard let text else { throw Refusal.invalid(fields.faults) }
        guard case .calendar(let calendar) = try await fetcher.fetch(url: try fetcher.url(text)) else {
            throw FetchFailure.garbled.refusal
        }
        try admission.grow(by: calendar.bytes.count)
        var upload = try ImportUpload(calendar.bytes)
        upload.charset = calendar.charset
        return upload
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
}
