// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// A file that came in: its bytes in a spool, never all of them in this process.
struct ImportUpload: Sendable {
    let spool: Spool
    /// As its Content-Type names it.
    var charset: String?
    /// Whether there are bytes that are no UTF-8.
    var isForeign = false
    /// Whom the file is counted to, for as long as it is here; nil for one that is counted to nobody.
    let admission: FairPool.Holding?

    init(_ admission: FairPool.Holding?) throws {
        spool = try Spool()
        self.admission = admission
    }

    /// The file of a request: its body, or the part `file` of a form; throws 413 for one byte more than the limit.
    init(_ request: Request, limit: Int, admission: FairPool.Holding) async throws {
        try self.init(admission)
        let type = request.headers[.contentType] ?? ""
        let isForm = type.lowercased().hasPrefix("multipart/form-data")
        // The form's own lines come on top of the file.
        let bodyLimit = isForm ? limit + 65_536 : limit
        if let text = request.headers[.contentLength], let length = Int(text), length > bodyLimit {
            throw Refusal.tooLarge(limit: limit)
        }
        charset = MediaType.charset(type)
        let found = isForm ? MultipartStream(part: "file", contentType: type) : nil
        guard var form = found else {
            guard !isForm else { throw Self.noFile }
            try await receive(request, bodyLimit, limit, admission) { bytes, keep in try keep(bytes[...]) }
            return
        }
        try await receive(request, bodyLimit, limit, admission) { bytes, keep in try form.feed(bytes, keep) }
        guard form.isWhole else { throw Self.noFile }
        charset = form.contentType.flatMap { MediaType.charset($0) }
    }

    /// Keeps bytes that are there already.
    init(_ bytes: [UInt8], _ admission: FairPool.Holding? = nil) throws {
        try self.init(admission)
        try spool.append(bytes)
        var check = UTF8Check()
        check.feed(bytes[...])
        isForeign = !check.finish()
    }

    private static let noFile = Refusal.badRequest("The form has no part named file.")

    private mutating func receive(
        _ request: Request, _ bodyLimit: Int, _ limit: Int, _ admission: FairPool.Holding,
        _ take: ([UInt8], (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) async throws {
        var count = 0
        var check = UTF8Check()
        for try await buffer in request.body {
            count += buffer.readableBytes
            guard count <= bodyLimit else { throw Refusal.tooLarge(limit: limit) }
            try take(Array(buffer.readableBytesView)) { bytes in
                guard spool.count + bytes.count <= limit else { throw Refusal.tooLarge(limit: limit) }
                try admission.grow(by: bytes.count)
                try spool.append(bytes)
                check.feed(bytes)
            }
        }
        isForeign = !check.finish()
    }
}
