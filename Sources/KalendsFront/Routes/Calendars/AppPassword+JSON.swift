// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import Storage

extension CountedAppPassword: Viewed {
    static let view = View<CountedAppPassword>([
        .text("id", \.password.id), .id("userId", \.password.userID), .text("label", \.password.label),
        .choice("access") { $0.password.mayWrite ? AppAccess.write : .read },
        .init(
            "circleIds",
            .array(of: .identifier).orNull.described("The circles that it opens; null for all of the user's.")
        ) { counted in counted.password.circleIDs.map { .array($0.map(JSONValue.string)) } ?? .null },
        .flag("own", \.password.reachesOwn).described("Whether it opens the user's own calendars, too."),
        .instant("createdAt", \.password.createdAt), .instant("expiresAt", \.password.expiresAt),
        .count("accessCount", \.password.accessCount), .instant("lastAccessedAt", \.password.lastAccessedAt),
        .list("clients", \.clients, of: FeedClient.view),
        .list("attention", \.attention, of: FeedAttention.view(of: .appPassword)),
    ])
}

extension AppPassword {
    /// The tag covers what a client can change, not counters.
    var etag: String {
        get throws {
            try JSONValue.array([
                .string(id), .string(label), .bool(mayWrite),
                circleIDs.map { .array($0.map(JSONValue.string)) } ?? .null,
                .bool(reachesOwn), JSONValue(expiresAt),
            ]).etag
        }
    }
}

/// An app password with what is shown only once.
struct NewAppPassword: Viewed {
    let counted: CountedAppPassword
    let password: String
    let url: String
    let profileURL: String

    init(_ made: AppPasswords.Made, _ settings: ServerSettings) {
        (counted, password, url) = (made.counted, made.secret.reveal(), settings.doorURL)
        profileURL = settings.profileURL(made.profile)
    }

    static let view = View<NewAppPassword>([
        .id("username", \.counted.password.userID).described("The user name to enter in the app."),
        .text("password", \.password), .text("url", \.url).described("The server address to enter in the app."),
        .text("profileURL", \.profileURL).described(
            "A profile for Apple's devices with all of it, which can be fetched once within an hour."),
    ])

    /// The password with its secret.
    var json: JSONValue {
        .object(CountedAppPassword.view.members(of: counted).merging(Self.view.members(of: self)) { _, new in new })
    }
}

extension ServerSettings {
    /// The address that calendar apps are given.
    var doorURL: String { "\(publicURL)/dav/" }

    func profileURL(_ profile: Secret) -> String { "\(publicURL)/profiles/\(profile.reveal())" }
}
