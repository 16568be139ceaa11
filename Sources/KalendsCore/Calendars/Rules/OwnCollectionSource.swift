// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Collections that a person makes and removes, and between which resources move; and what the person set of the home,
/// the container of all their collections.
package protocol OwnCollectionSource: CollectionSource {
    /// Returns what the person set of the home.
    func homeProperties(of caller: CalDAVCaller) async throws -> [StoredProperty]

    /// Sets and removes properties of the home, as `set` does of a collection: default alarms are kept there.
    func setHome(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], for caller: CalDAVCaller
    ) async throws

    /// Makes a collection.
    ///
    /// - Parameters:
    ///   - segment: its name in the home's address, not percent-encoded.
    ///   - properties: what its person set along with it.
    /// - Throws: `CollectionFault.exists` if there is one.
    func make(
        _ segment: String, components: [CalendarComponent], properties: [StoredProperty],
        for caller: CalDAVCaller
    ) async throws -> CalendarCollection

    /// Removes a collection with everything in it.
    func remove(_ collection: CalendarCollection, for caller: CalDAVCaller) async throws

    /// Moves or copies a resource within a collection or between two of them.
    ///
    /// - Parameters:
    ///   - name: the name of the resource, to which the conditions refer.
    ///   - overwrites: whether a resource that has the new name already is replaced; throws `preconditionFailed`
    ///     otherwise.
    /// - Returns: whether a resource was replaced.
    func transfer(
        _ name: String, of collection: CalendarCollection, to newName: String, in target: CalendarCollection,
        isMove: Bool, overwrites: Bool, if conditions: WriteConditions, for caller: CalDAVCaller
    ) async throws -> Bool
}
