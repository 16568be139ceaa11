// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore
import NIOHTTP1

/// What a request's header says of the connection and of the message itself (RFC 9112), before anybody looks at the rest.
struct RequestManner {
    /// HTTP/1.0, which has no chunks, no 100, and no connection that is kept without being asked for.
    private(set) var isOld: Bool
    /// Whether the connection ends with the answer.
    private(set) var closes: Bool
    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    private(set) var expects = false
    /// Whether a body follows.
    private(set) var hasBody = false

    /// Throws what is answered in place of the request: 400 for a Host field that is missing, doubled or no host (RFC
    /// 9112 section 3.2), 417 for an expectation that is not supported here.
    init(_ head: HTTPRequestHead) throws(ProblemDocument) {
        // The parser takes no other version than these two.
        isOld = head.version == .http1_0
        var (hosts, asksToClose, asksToStay) = (0, false, false)
        for (name, value) in head.headers {
            // The length comes first: most names are not among these.
            switch name.utf8.count {
            case 4 where name.isField("host"):
                hosts += 1
                guard hosts == 1, Self.isHost(value) else { throw Self.badHost }
            case 6 where name.isField("expect"):
                // A client of HTTP/1.0 cannot mean it.
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
            case 17 where name.isField("transfer-encoding"): hasBody = true
            default: break
            }
        }
        guard hosts == 1 || isOld else { throw Self.badHost }
        closes = asksToClose || (isOld && !asksToStay)
        expects = expects && hasBody
    }

    /// `uri-host [":" port]` (RFC 9110 section 7.2); empty for a target without an authority.
    private static func isHost(_ value: String) -> Bool {
        value.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: hostMarks.contains(byte)
            }
        }
    }

    private static let hostMarks = Set("-._~!$&'()*+,;=%:[]".utf8)

    private static let badHost = ProblemDocument(
        .badRequest, code: .hostInvalid, detail: "A request has exactly one Host field, which names a host.")
    private static let otherExpectation = ProblemDocument(
        .expectationFailed, detail: "The only expectation that is met here is 100-continue.")
}

extension StringProtocol {
    /// Whether it is this text, which is ASCII in lower case, without regard to case.
    fileprivate func isField(_ lowercase: StaticString) -> Bool {
        // A static string's bytes live as long as the program.
        unsafe utf8.count == lowercase.utf8CodeUnitCount
            && utf8.elementsEqual(
                UnsafeBufferPointer(start: lowercase.utf8Start, count: lowercase.utf8CodeUnitCount),
                by: { (65...90).contains($0) ? $0 | 0x20 == $1 : $0 == $1 })
    }
}
