// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import NIOCore

@testable import KalendsCore
@testable import KalendsFront

/// Tokens, settings and the other small formats of the product.
extension Reader {
    static let formats = [
        Reader(name: "gzip", check: gzip),
        Reader(name: "signed-token") { bytes in
            guard let token = SignedToken(Concealed(text(bytes))) else { return }
            try promise(token.claims.object != nil && !token.signature.isEmpty, "A token has claims and a signature.")
            try promise(bytes.starts(with: token.signed), "The signed bytes are those of the text.")
        },
        Reader(name: "password-hash") { bytes in
            guard let hash = PasswordHash(stored: text(bytes)) else { return }
            try promise(PasswordHash(stored: hash.stored)?.stored == hash.stored, "A hash is read back.")
        },
        Reader(name: "media-type") { bytes in
            let text = text(bytes)
            try promise(MediaType.essence(of: text).utf8.count <= text.utf8.count, "A type is part of the text.")
            if let charset = MediaType.charset(text) { try promise(charset.utf8.count <= 40, "A charset has a limit.") }
            _ = MediaType.parameter("boundary", of: text)
        },
        Reader(name: "http-date") { bytes in
            guard let date = Instant(httpDate: text(bytes)) else { return }
            guard (1000...9999).contains(date.utc.date.year) else { return }
            try promise(Instant(httpDate: date.httpDate) == date, "A date is read back: \(date.httpDate)")
        },
        Reader(name: "settings", check: settings),
        Reader(name: "audit-head") { bytes in
            guard let head = AuditHead(text(bytes)) else { return }
            try promise(AuditHead(head.text) == head, "A head is read back: \(head.text)")
        },
        Reader(name: "recurrence") { bytes in
            let text = text(bytes)
            _ = PersonalRecurrence(stored: text)
            guard let value = try? JSONValue(parsing: bytes) else { return }
            for ignores in [false, true] {
                var faults = FaultList()
                let read = PersonalRecurrence(value, at: "/recurrence", ignoresUnknown: ignores, &faults)
                guard faults.isEmpty, let rule = read?.rule else { continue }
                try promise(try RecurrenceRule(rule).description == rule, "A rule is read back: \(rule)")
            }
        },
        Reader(name: "worker-frames") { bytes in
            try promise(try frames([bytes]) == frames(pieces(of: bytes)), "In pieces the same frames are found.")
        },
        Reader(name: "items") { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return }
            for kind in ItemKinds.all.list {
                var fields = FieldReader(value)
                let item = kind.init(&fields)
                fields.finish()
                try promise(item != nil || !fields.faults.isEmpty, "Nothing is refused without a fault.")
            }
            for method in [PersonalEdit.Method.device, .put, .patch] {
                var fields = FieldReader(value)
                _ = PersonalEdit(value, &fields, at: "", method, needsAll: method == .put)
                fields.finish()
            }
        },
        Reader(name: "path-component") { bytes in
            // Foundation leaves out a byte order mark at the beginning.
            let path = "/" + pathComponent(text(bytes))
            try promise(
                path.removingPercentEncoding?.utf8.elementsEqual("/\(text(bytes))".utf8) == true,
                "Foundation decodes a path's component.")
        },
    ]

    private static func gzip(_ bytes: [UInt8]) throws {
        let limit = 1 << 20
        let whole = try? Gunzip.unpack(bytes, limit: limit)
        var output: [UInt8] = []
        let stream = try GunzipStream(limit: limit)
        let isWhole: Bool
        do {
            for piece in pieces(of: bytes) { try stream.feed(piece) { output += $0 } }
            try stream.finish()
            isWhole = true
        } catch {
            isWhole = false
        }
        try promise(isWhole == (whole != nil), "In pieces it is as whole as at once.")
        try promise(output.count <= limit, "Nothing beyond the limit is unpacked.")
        if let whole { try promise(output == whole, "In pieces the same comes out.") }
        guard let packed = Gzip.pack(ByteBuffer(bytes: bytes)) else { return }
        let unpacked = try Gunzip.unpack(Array(packed.readableBytesView), limit: bytes.count)
        try promise(unpacked == bytes, "What is packed is unpacked.")
    }

    private static func settings(_ bytes: [UInt8]) throws {
        let path = NSTemporaryDirectory() + "/kalends-fuzz-\(ProcessInfo.processInfo.processIdentifier).settings"
        try Data(bytes).write(to: URL(filePath: path))
        var values = SettingValues(flags: [:], configFile: path, environment: [:])
        do {
            _ = try ServerSettings(&values)
        } catch let error as ServerSettings.Invalid {
            try promise(!error.faults.isEmpty, "Settings are not refused without a sentence.")
        }
    }

    private static func frames(_ pieces: [[UInt8]]) throws -> [String] {
        var frames = WorkerFrames()
        var found: [String] = []
        do {
            for piece in pieces {
                frames.append(piece)
                while let frame = try frames.next() { found.append("\(frame)") }
            }
        } catch is PackError {
            found.append("fault")
        }
        return found
    }
}
