// SPDX-License-Identifier: Apache-2.0

import Outbound
import Synchronization

/// Receives a calendar from its host: unpacks it into a spool piece by piece, and counts it for whoever requested it.
final class CalendarSink: AnswerSink {
    private struct State {
        var packed = 0
        var gunzip: GunzipStream?
        var check = UTF8Check()
    }

    private let upload: ImportUpload
    private let limit: Int
    private let state: Mutex<State>

    /// Throws `OutboundFailure` if the answer has a content encoding that was not requested, or declares a length
    /// beyond the limit.
    ///
    /// - Parameter limit: the most bytes, both packed and unpacked.
    init(_ answer: OutboundAnswer, limit: Int, for admission: FairPool.Holding?) throws {
        if let length = answer.field("content-length").flatMap({ Int($0) }), length > limit {
            throw OutboundFailure.tooLarge(limit: limit)
        }
        let isPacked =
            switch answer.field("content-encoding")?.lowercased() {
            case nil, "identity", "": false
            case "gzip", "x-gzip", "deflate": true
            case let name?: throw OutboundFailure.packed(String(name.filter(\.isASCII).prefix(20)))
            }
        var upload = try ImportUpload(admission)
        upload.charset = answer.field("content-type").flatMap { MediaType.charset($0) }
        (self.upload, self.limit) = (upload, limit)
        let limit = limit
        state = Mutex(State())
        if isPacked {
            do { try state.withLock { $0.gunzip = try GunzipStream(limit: limit) } } catch {
                throw OutboundFailure.garbled
            }
        }
    }

    /// Takes the next bytes; throws `OutboundFailure` beyond the limit and if they cannot be unpacked, `Refusal` if
    /// there is no room.
    func take(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            // Some hosts pack a file and do not say so; no calendar begins like that.
            if state.packed == 0, state.gunzip == nil, bytes.starts(with: [0x1f, 0x8b]) {
                do { state.gunzip = try GunzipStream(limit: limit) } catch { throw OutboundFailure.garbled }
            }
            state.packed += bytes.count
            guard state.packed <= limit else { throw OutboundFailure.tooLarge(limit: limit) }
            guard let gunzip = state.gunzip else { return try keep(bytes[...], &state.check) }
            do {
                try gunzip.feed(bytes) { try keep($0, &state.check) }
            } catch let error as Gunzip.UnpackingError {
                throw failure(error)
            }
        }
    }

    /// Returns the whole calendar.
    func finish() throws -> ImportUpload {
        try state.withLock { state in
            do throws(Gunzip.UnpackingError) { try state.gunzip?.finish() } catch { throw failure(error) }
            var upload = upload
            upload.isForeign = !state.check.finish()
            return upload
        }
    }

    private func keep(_ bytes: ArraySlice<UInt8>, _ check: inout UTF8Check) throws {
        try upload.admission?.grow(by: bytes.count)
        try upload.spool.append(bytes)
        check.feed(bytes)
    }

    private func failure(_ error: Gunzip.UnpackingError) -> OutboundFailure {
        error == .tooLarge ? .tooLarge(limit: limit) : .garbled
    }
}
