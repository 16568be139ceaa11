// SPDX-License-Identifier: Apache-2.0

/// The parts of the marks of items' events that are not in the events themselves.
package struct PhoneMarks: Sendable {
    package var installation = ""
    /// The text in the marks of a connection's events where it is not the connection's id, by connection id.
    package var ofSources: [ByteString: String] = [:]

    package init(installation: String = "", ofSources: [ByteString: String] = [:]) {
        self.installation = installation
        self.ofSources = ofSources
    }
}
