// SPDX-License-Identifier: Apache-2.0

/// Who does not hear of the changes that a task makes (draft-bitfire-webdav-push, `Push-Dont-Notify`).
///
/// It works within the transaction that makes a change: afterwards somebody could have heard already.
public struct PushMute: Sendable {
    public enum Registrations: Sendable {
        case all
        /// Some of one person's.
        case some([String], of: String)
    }

    public let registrations: Registrations
    /// The collections that the task changes.
    public let places: [(kind: CollectionProperty.Kind, id: String)]
    /// Whether a registration's app still has to hear of the state before the change.
    private let hasNews: @Sendable (PushRegistration, any ReadTransaction) throws -> Bool

    @TaskLocal public static var current: PushMute?

    public init(
        _ registrations: Registrations, in places: [(kind: CollectionProperty.Kind, id: String)],
        hasNews: @escaping @Sendable (PushRegistration, any ReadTransaction) throws -> Bool
    ) {
        (self.registrations, self.places, self.hasNews) = (registrations, places, hasNews)
    }

    /// The state before a change.
    public struct Before {
        fileprivate var registrations: [(PushRegistration, isQuiet: Bool)]
    }

    /// Notes the state before a change, in the same transaction.
    public func begin(in transaction: any ReadTransaction) throws -> Before {
        var before = Before(registrations: [])
        for place in places {
            guard let state = try transaction.collectionState(of: place.kind, place.id) else { continue }
            for registration in try transaction.pushRegistrations(of: place.kind, place.id) where names(registration) {
                // Whoever still has to hear of an earlier change hears of it, and that message announces that change.
                let isQuiet = try registration.sent == state || !hasNews(registration, transaction)
                before.registrations.append((registration, isQuiet))
            }
        }
        return before
    }

    /// Counts what changed since as told.
    public func end(_ before: Before, in transaction: any WriteTransaction) throws {
        for (earlier, isQuiet) in before.registrations {
            guard var registration = try transaction.pushRegistration(earlier.id),
                let state = try transaction.collectionState(of: registration.kind, registration.collectionID)
            else { continue }
            if isQuiet { registration.sent = state }
            registration.notifiedPropertyChanges += registration.propertyChanges - earlier.propertyChanges
            if registration != earlier { try transaction.putPushRegistration(registration) }
        }
    }

    private func names(_ registration: PushRegistration) -> Bool {
        switch registrations {
        case .all: true
        case .some(let ids, of: let user):
            registration.userID.isSameText(as: user) && ids.contains { $0.isSameText(as: registration.id) }
        }
    }
}
