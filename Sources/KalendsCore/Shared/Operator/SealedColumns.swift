// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

extension SealedColumn {
    /// All columns with sealed texts. Pending sign-ins are not included, since they end within ten minutes.
    package static let all = [
        SealedColumn("feeds", "sealed_token") { FeedLedger.purpose($0) },
        SealedColumn("webhooks", "sealed_url") { Webhook.urlPurpose($0) },
        SealedColumn("webhooks", "sealed_secret") { Webhook.secretPurpose($0) },
        SealedColumn("webhooks", "sealed_former") { Webhook.secretPurpose($0) },
        SealedColumn("subscriptions", "sealed_url") { SubscriptionRefresh.purpose($0) },
        SealedColumn("connection_credentials", "sealed", key: "connection_id") { AccountCredential.purpose($0) },
        SealedColumn("second_factors", "sealed", key: "user_id") { SecondFactorCheck.purpose($0) },
        SealedColumn("sessions", "sealed_id_token") { ProviderSignIn.purpose(ofIDToken: $0) },
        SealedColumn("kept_answers", "sealed", key: "name") { OnceRequest.purpose($0) },
        SealedColumn("password_handouts", "sealed", key: "hash") { FeedLedger.purpose(ofHandout: $0) },
        SealedColumn("push_registrations", "sealed") { PushTarget.purpose($0) },
        SealedColumn("settings", "value", key: "name") { purpose(ofSetting: $0) },
    ]

    /// Returns the purpose for which a setting is sealed; empty for one that is not sealed.
    package static func purpose(ofSetting name: String) -> String {
        switch name {
        case "keyCheck": "settings/keyCheck"
        case PushKeys.setting: PushKeys.purpose
        case FeedLedger.hashKey: FeedLedger.hashKeyPurpose
        default: ""
        }
    }
}
