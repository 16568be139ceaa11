// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import NIOCore

/// Reads the body of a request for an import: a file, a form with a file, or the address of a file.
struct ImportBody {
    /// The source of an import.
    enum File: Sendable {
        case upload(ImportUpload)
        case address(String)
    }

    let request: Request
    /// The maximum size in bytes of a file.
    let limit: Int
    /// The reservation that the bytes count against.
    let admission: FairPool.Holding
    /// Checks the part `token` of a form, which comes before the file; throws unless it is right.
    var checkToken: (@Sendable (String?) throws -> Void)?

    /// Throws 413 for a file that is larger than the limit, 400 or 422 for a body without a file.
    func read() async throws -> File {
        if MediaType.essence(of: request.headers[.contentType]) == "application/json" { return try await readJSON() }
        let upload = try await readFile()
        try Self.checkMediaType(of: upload)
        return .upload(upload)
    }

    /// A calendar in JSON is an array (RFC 7265 section 3.2); anything else is a short document: `{"url": …}`.
    private func readJSON() async throws -> File {
        var (body, isBlank): ([UInt8], Bool) = ([], true)
        var (calendar, check): (ImportUpload?, UTF8Check) = (nil, UTF8Check())
        var count = 0
        for try await buffer in request.body {
            // Earlier bytes are never examined again: a body may arrive one byte at a time.
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
            return .upload(calendar)
        }
        return .address(try Self.address.read(try Request.document(body)))
    }

    static let address = InputBody(
        .required(
            "url", .text(8192).described("An address with https or webcal, which is used once and never stored.")),
        example: ["url": "https://calendar.example/holidays.ics"])

    /// The file of a request: its body, or the part `file` of a form.
    private func readFile() async throws -> ImportUpload {
        var upload = try ImportUpload(admission)
        let type = request.headers[.contentType] ?? ""
        let isForm = type.lowercased().hasPrefix("multipart/form-data")
        // The form's own lines are added to the size of the file.
        let bodyLimit = isForm ? limit + 65_536 : limit
        if let text = request.headers[.contentLength], let length = Int(text), length > bodyLimit {
            throw Refusal.tooLarge(limit: limit)
        }
        upload.charset = MediaType.charset(type)
        let found = isForm ? MultipartStream(part: "file", contentType: type) : nil
        var token = isForm && checkToken != nil ? MultipartStream(part: "token", contentType: type) : nil
        var text: [UInt8] = []
        func check() throws {
            let token = token?.isWhole == true ? String(validating: text, as: UTF8.self)?.fromOutside : nil
            try checkToken?(token)
        }
        guard var form = found else {
            guard !isForm else { throw Self.noFile }
            try await receive(&upload, bodyLimit) { bytes, keep in try keep(bytes[...]) }
            return upload
        }
        try await receive(&upload, bodyLimit) { bytes, keep in
            try token?.feed(bytes) { if text.count < Self.longestToken { text += $0 } }
            try form.feed(bytes) { part in
                // Nothing of the file is stored before its sender is known.
                try check()
                try keep(part)
            }
        }
        try check()
        guard form.isWhole else { throw Self.noFile }
        upload.charset = form.contentType.flatMap { MediaType.charset($0) }
        return upload
    }

    private func receive(
        _ upload: inout ImportUpload, _ bodyLimit: Int,
        _ take: ([UInt8], (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) async throws {
        let spool = upload.spool
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
        upload.isForeign = !check.finish()
    }

    /// Throws 422 for a document such as `{"url": …}` that was sent as a calendar: a calendar is never an object.
    private static func checkMediaType(of upload: ImportUpload) throws {
        let start = try upload.spool.read(0..<min(upload.spool.count, 64))
        guard start.first(where: { !isSpace($0) }) == UInt8(ascii: "{"), upload.spool.count <= Request.jsonLimit,
            case .object? = try? JSONValue(parsing: try upload.spool.read(0..<upload.spool.count))
        else { return }
        throw Refusal(
            .invalid, code: .unsupportedMediaType,
            detail: "The body is a JSON object, not a calendar. Send it with Content-Type: application/json.")
    }

    private static let longestToken = 1024

    private static let noFile = Refusal.badRequest("The form has no part named file.")

    private static func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
}
