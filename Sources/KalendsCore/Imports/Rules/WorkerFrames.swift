// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A message of a reading process: first its progress, and then what it read or why it could not.
package enum WorkerFrame {
    /// The part that has been read, from 0 to 1.
    case progress(Double)
    /// An `ImportBlock` in packed form.
    case block([UInt8])
    case refused(detail: String, faults: [Fault])
    /// The only frame of a check: what `kalends check --json` writes about the file.
    case check([UInt8])
    /// The last frame of a reading.
    case summary(ImportSummary)

    /// The encoded frame: a letter, the length of the content in four bytes, and the content.
    package var bytes: [UInt8] {
        var writer = PackWriter()
        let kind: Unicode.Scalar
        switch self {
        case .progress(let part):
            kind = "p"
            writer.write(Int(part * 1000))
        case .block(let block): return Self.framed("b", block)
        case .check(let json): return Self.framed("c", json)
        case .refused(let detail, let faults):
            kind = "r"
            writer.write(detail)
            writer.write(faults) { writer, fault in
                writer.write(fault.pointer)
                writer.write(fault.code.rawValue)
                writer.write(fault.message)
            }
        case .summary(let summary):
            kind = "s"
            summary.write(to: &writer)
        }
        return Self.framed(kind, writer.bytes)
    }

    private static func framed(_ kind: Unicode.Scalar, _ content: [UInt8]) -> [UInt8] {
        [UInt8(ascii: kind)] + (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (24 - 8 * $0)) } + content
    }

    fileprivate init(_ kind: UInt8, _ content: [UInt8]) throws {
        var reader = PackReader(content)
        switch Unicode.Scalar(kind) {
        case "p": self = .progress(Double(try reader.integer()) / 1000)
        case "b": self = .block(content)
        case "c": self = .check(content)
        case "r":
            let detail = try reader.text()
            self = .refused(
                detail: detail,
                faults: try reader.list { (reader) throws(PackError) in
                    Fault(
                        pointer: try reader.text(), code: Fault.Code(rawValue: try reader.text()) ?? .fileProblem,
                        message: try reader.text())
                })
        case "s": self = .summary(try ImportSummary(&reader))
        default: throw reader.failure()
        }
    }
}

/// Splits the bytes from a pipe into frames.
struct WorkerFrames {
    /// The most bytes of one frame: the report on a file with as many problems as are listed of all kinds.
    private static let most = 8 << 20

    private var pending: [UInt8] = []
    private var position = 0

    mutating func append(_ bytes: some Sequence<UInt8>) {
        if position > 0 {
            pending.removeFirst(position)
            position = 0
        }
        pending += bytes
    }

    /// Returns the next complete frame, or nil if more bytes are needed; throws `PackError` if it is not a valid frame.
    mutating func next() throws -> WorkerFrame? {
        guard pending.count - position >= 5 else { return nil }
        let length = (1...4).reduce(0) { $0 << 8 | Int(pending[position + $1]) }
        guard length <= Self.most else { throw PackReader(pending).failure() }
        guard pending.count - position - 5 >= length else { return nil }
        let start = position + 5
        defer { position = start + length }
        return try WorkerFrame(pending[position], Array(pending[start..<start + length]))
    }
}
