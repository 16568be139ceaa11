// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Webhook {
    /// The purpose for which a webhook's address is sealed.
    package static func urlPurpose(_ id: String) -> String { "webhook/\(id)/url" }
    /// The purpose for which a webhook's secrets are sealed.
    package static func secretPurpose(_ id: String) -> String { "webhook/\(id)/secret" }
}
