// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore
import NIOHTTP1

/// What a request's header states about the connection and the message (RFC 9112), read before everything else.
struct RequestFraming: Equatable {
    /// HTTP/1.0, which has no chunks and no 100, and keeps a connection only when asked.
    private(set) var isOld: Bool
    /// Whether the connection ends with the answer.
    private(set) var closes: Bool
    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    private(set) var expects = false
    /// Whether a body follows.
    private(set) var hasBody = false

    /// Throws the answer to a request that is refused: 400 for a Host field that is missing, repeated or not a host
    /// (RFC 9112 section 3.2), 417 for an expectation that is not supported here, 415 for a body with a content coding
    /// (RFC 9110 section 15.5.16).
    init(_ head: HTTPRequestHead) throws(ProblemDocument) {
        // The parser accepts only these two versions.
        isOld = head.version == .http1_0
        var (hosts, asksToClose, asksToStay, isCoded) = (0, false, false, false)
        for (name, value) in head.headers {
            // The length is compared first: most names are not among these.
            switch name.utf8.count {
            case 4 where name.isField("host"):
                hosts += 1
                guard hosts == 1, Self.isHost(value) else { throw Self.badHost }
            case 6 where name.isField("expect"):
                // The field has no meaning in HTTP/1.0.
                if isOld { continue }
                guard value.isField("100-continue") else { throw Self.otherExpectation }
                expects = true
            case 10 where name.isField("connection"):
                for option in value.utf8.split(separator: UInt8(ascii: ",")) {
                    let text = Substring(option.drop { $0 == 32 || $0 == 9 }.prefix { $0 != 32 && $0 != 9 })
                    asksToClose = asksToClose || text.isField("close")
                    asksToStay = asksToStay || text.isField("keep-alive")
                }
            case 14 where name.isField("content-length"): hasBody = hasBody || !value.utf8.elementsEqual([48])
            case 16 where name.isField("content-encoding"):
                isCoded = isCoded || !value.isEmpty && !value.isField("identity")
            case 17 where name.isField("transfer-encoding"): hasBody = true
            default: break
            }
        }
        guard hosts == 1 || isOld else { throw Self.badHost }
        closes = asksToClose || (isOld && !asksToStay)
        expects = expects && hasBody
        // Whoever read a compressed file as it is would call it damaged.
        guard !isCoded || !hasBody else { throw Self.coded }
    }

    /// `uri-host [":" port]` (RFC 9110 section 7.2); empty for a target without an authority.
    private static func isHost(_ value: String) -> Bool {
        value.utf8.allSatisfy(isHostByte)
    }

    static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: hostMarks.contains(byte)
        }
    }

    private static let hostMarks = Set("_~!$&'()*+,;=%[]".utf8)

    private static let badHost = ProblemDocument(
        .badRequest, code: .hostInvalid, detail: "A request must have exactly one Host field, which names a host.")
    private static let coded = ProblemDocument(
        .unsupportedMediaType, detail: "Bodies are not accepted in a content coding. Send it without Content-Encoding.",
        headers: [.acceptEncoding: "identity"])
    private static let otherExpectation = ProblemDocument(
        .expectationFailed, detail: "The only expectation that this server supports is 100-continue.")
}
