// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The XML that calendar apps send.
package enum RequestXML {
    /// The most bytes of a body.
    package static let limit = 1 << 20

    /// Reads a body; one that takes a while is read in its sender's turn, where nobody else waits.
    package static func read(_ bytes: [UInt8], for sender: Sender) async throws -> XMLElement {
        guard bytes.count > ForeignAnswers.small else { return try XMLReader.read(bytes, limits: .request) }
        return try await ForeignAnswers.threads.run(for: sender.caller) {
            try XMLReader.read(bytes, limits: .request)
        }
    }
}
