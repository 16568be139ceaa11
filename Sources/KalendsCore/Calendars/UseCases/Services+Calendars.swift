// SPDX-License-Identifier: Apache-2.0

extension Services {
    /// What calendar apps find of a person.
    package var collections: Collections { Collections(collectionSources, store: store) }

    /// Where calendar apps want to hear of changes.
    package var pushRegistrations: PushRegistrations { PushRegistrations(services: self) }

    /// What has collections, in the order in which the home lists them: a person's own calendar stays where it was made,
    /// also when a circle with its name comes later.
    private var collectionSources: [any CollectionSource] {
        [ownCalendars, CircleCollections(services: self)]
    }
}
