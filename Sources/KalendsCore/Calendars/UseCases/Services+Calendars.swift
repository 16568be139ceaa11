// SPDX-License-Identifier: Apache-2.0

extension Services {
    /// What calendar apps find of a person.
    package var collections: Collections { Collections(collectionSources, store: store) }

    /// What has collections, in the order in which the home lists them.
    private var collectionSources: [any CollectionSource] {
        [CircleCollections(services: self), ownCalendars]
    }
}
