// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

/// The callers that a route admits: declared once with the route, shown in its description, and tested for every
/// caller.
enum Access: Hashable, Sendable {
    /// Everybody, without a credential.
    case anyone
    /// The holder of the secret in the path.
    case feedToken
    /// Every known caller, who is shown only what is theirs.
    case caller
    /// The host application or the operator.
    case installation
    /// A user, for what is their own; a service key names the user.
    case user
    /// The user of the path, or the host application.
    case oneself
    /// The holder of a session.
    case session
    /// A registered device.
    case device
    /// A user or one of their devices, for what is the user's own; a service key names the user.
    case phone
    /// As `phone`, plus the holder of the companion's token.
    case companion
    /// Every caller with this right in the circle of the path.
    case circle(Right)
    /// The feed's owner.
    case feed
    /// The app password's user.
    case appPassword
    /// The connection's user.
    case connection
    /// Every caller with this right in the import's circle.
    case `import`(Right)
    /// A browser in which a link of `kalends open --admin` was used; no other credential opens these pages.
    case operatorPages

    var needsCredential: Bool { self != .anyone && self != .feedToken }

    /// Whether a device's token is accepted.
    var acceptsDevices: Bool {
        switch self {
        case .device, .phone, .companion: true
        default: false
        }
    }

    /// Whether the routes concern circles, so that a key that is bound to some may use them; for it, nothing else exists.
    ///
    /// A user's own data belongs to all of the user's circles.
    func isOfCircles(_ need: KeyNeed) -> Bool {
        switch self {
        case .circle, .feed, .connection, .import: true
        // The circles, the changes, the audit trail and the keys within its own bound.
        case .caller, .installation:
            [.scope(.readSchedule), .scope(.audit), .scope(.keys)].contains(need)
        case .user, .oneself, .session, .device, .phone, .companion, .appPassword, .operatorPages: false
        case .anyone, .feedToken: true
        }
    }

    /// The text that the document shows.
    var text: String {
        switch self {
        case .anyone: "anyone"
        case .feedToken: "the holder of the secret in the path"
        case .caller: "every known caller, for their own data"
        case .installation: "the host application"
        case .user: "a user, for what is their own; the host application names one in `Kalends-User`"
        case .oneself: "that user, and the host application"
        case .session: "a signed-in user's session"
        case .device: "a registered device"
        case .phone: "a user or one of their devices; the host application names the user in `Kalends-User`"
        case .companion:
            "the companion's token, a user or one of their devices; the host application names the user in "
                + "`Kalends-User`"
        case .circle(let right): "in the circle: \(right.roles)"
        case .feed: "the feed's owner"
        case .appPassword: "the app password's user"
        case .connection: "the connection's user"
        case .import(let right): "in the import's circle: \(right.roles)"
        case .operatorPages: "the operator, signed in with a link from `kalends open --admin` or at a provider"
        }
    }
}

extension Right {
    /// The roles that have this right.
    fileprivate var roles: String {
        Member.Role.allCases.filter { $0.right >= self }.map(\.rawValue).joined(separator: ", ")
    }
}
