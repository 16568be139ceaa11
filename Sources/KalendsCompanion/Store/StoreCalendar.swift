// SPDX-License-Identifier: Apache-2.0

/// A calendar of a store.
public struct StoreCalendar: Hashable, Sendable, Codable {
    /// What the store calls it. A store may call it something else after a full sync.
    public var id: String
    public var title: String
    /// `#RRGGBB`, nil when it has no colour.
    public var color: String?
    public var canWrite: Bool
    /// Whether new events go here unless a person says otherwise.
    public var isDefault: Bool

    public init(id: String, title: String, color: String? = nil, canWrite: Bool = true, isDefault: Bool = false) {
        self.id = id
        self.title = title
        self.color = color
        self.canWrite = canWrite
        self.isDefault = isDefault
    }
}
