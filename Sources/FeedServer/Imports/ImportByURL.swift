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
    func upload(_ request: Request, limit: Int, _ admission: FairPool.Holding) async throws -> ImportUpload? {
        guard MediaType.essence(of: request.headers[.contentType]) == "application/json" else { return nil }
        // A calendar in JSON is an array (RFC 7265 section 3.2); all else is a document, and short.
        var (body, isBlank): ([UInt8], Bool) = ([], true)
        var (calendar, check): (ImportUpload?, UTF8Check) = (nil, UTF8Check())
        var count = 0
        for try await buffer in request.body {
            // What came before is never looked at again: a body may come a byte at a time.
            if isBlank, let first = buffer.readableBytesView.first(where: { !Self.isSpace($0) }) {
                isBlank = false
                if first == UInt8(ascii: "[") {
                    calendar = try ImportUpload(admission)
                    try calendar?.spool.append(body)
                    check.feed(body[...])
                    body = []
                }
            }
            count += buffer.readableBytes
            let limit = calendar == nil ? min(limit, Request.jsonLimit) : limit
            guard count <= limit else { throw Refusal.tooLarge(limit: limit) }
            try admission.grow(by: buffer.readableBytes)
            if let calendar {
                let bytes = Array(buffer.readableBytesView)
                try calendar.spool.append(bytes)
                check.feed(bytes[...])
            } else {
                body.append(contentsOf: buffer.readableBytesView)
            }
        }
        if var calendar {
            calendar.isForeign = !check.finish()
            return calendar
        }
        let document = try Request.document(body)
        var fields = FieldReader(document)
        let text = fields.text("url", isRequired: true, maximum: 8192)
        fields.finish()
        try fields.check()
        guard let text else { throw Refusal.invalid(fields.faults) }
        guard case .calendar(let found) = try await fetcher.fetch(url: try fetcher.url(text), for: admission) else {
            throw FetchFailure.garbled.refusal
        }
        return found.upload
    }

    /// Throws 422 for a document such as `{"url": …}` that was sent as if it were a calendar: no calendar is an object.
    static func checkMediaType(of upload: ImportUpload) throws {
        let start = try upload.spool.read(0..<min(upload.spool.count, 64))
        guard start.first(where: { !isSpace($0) }) == UInt8(ascii: "{"), upload.spool.count <= Request.jsonLimit,
            case .object? = try? JSONValue(parsing: try upload.spool.read(0..<upload.spool.count))
        else { return }
        throw Refusal(
            status: .unprocessableContent, code: .unsupportedMediaType,
            detail: "The body is a JSON object and no calendar. Send it with Content-Type: application/json.")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
}
