// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The kinds of items that the server has.
package struct ItemKinds: Sendable {
    package let list: [any ItemContent.Type]

    package init(_ list: [any ItemContent.Type]) { self.list = list }

    package static let all = ItemKinds([
        TaskContent.self, ShiftContent.self, AppointmentContent.self, FollowUpContent.self,
    ])

    package subscript(collection: ScheduleItem.Collection) -> (any ItemContent.Type)? {
        list.first { $0.collection == collection }
    }

    /// Reads the content of an item; throws `StorageError` for content that this version does not understand.
    package func content(of item: ScheduleItem) throws -> any ItemContent {
        guard let kind = self[item.collection] else {
            throw StorageError.unexpectedResult("An item is in an unknown collection.")
        }
        return try kind.init(stored: item.content)
    }

    package var namesInTitles: NamesInTitles {
        func collections(_ name: NameInTitle) -> [ScheduleItem.Collection] {
            list.filter { $0.namesInTitles.contains(name) }.map { $0.collection }
        }
        return NamesInTitles(ofPatients: collections(.patient), ofOwners: collections(.owner))
    }
}
