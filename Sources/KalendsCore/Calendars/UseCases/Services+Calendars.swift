// SPDX-License-Identifier: Apache-2.0

package import FeedTokens

extension Services {
    /// What calendar apps find of a person.
    package var collections: Collections { Collections(collectionSources, store: store) }

    /// Where calendar apps want to hear of changes.
    package var pushRegistrations: PushRegistrations {
        PushRegistrations(
            acts: acts, settings: settings, sealingKey: sealingKey, isSealingKeyRight: isSealingKeyRight,
            pushKeys: pushKeys, leases: leases, metrics: metrics, databaseID: databaseID)
    }

    /// What has collections, in the order in which the home lists them: a person's own calendar stays where it was made,
    /// also when a circle with its name comes later.
    private var collectionSources: [any CollectionSource] { [ownCalendars, circleCollections] }

    package func feedCollection(_ token: Secret) -> FeedCollection { FeedCollection(token, feedContext, feedMembers) }

    var circleCollections: CircleCollections {
        CircleCollections(
            acts: acts, settings: settings, turns: turns, circleIndexes: circleIndexes, memory: memory)
    }
}
