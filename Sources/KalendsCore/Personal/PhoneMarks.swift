// SPDX-License-Identifier: Apache-2.0

/// What the marks of items' events consist of besides what the events themselves say.
package struct PhoneMarks: Sendable {
    package var installation = ""
    /// What a connection's events are marked with where that is not its own id, by its id.
    package var ofSources: [ByteString: String] = [:]

    package init(installation: String = "", ofSources: [ByteString: String] = [:]) {
        self.installation = installation
        self.ofSources = ofSources
    }
}
