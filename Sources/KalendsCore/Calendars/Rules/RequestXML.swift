// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The XML that calendar apps send.
package enum RequestXML {
    /// The maximum size in bytes of a body.
    package static let limit = 1 << 20

    /// Reads a body; one that takes a while is read in its sender's turn, where nobody else waits.
    package static func read(_ bytes: [UInt8], for sender: Sender) async throws -> XMLElement {
        try await ForeignAnswers.inTurn(of: sender.caller, bytes: bytes.count) {
            try XMLReader.read(bytes, limits: .request)
        }
    }
}
