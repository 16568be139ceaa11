// SPDX-License-Identifier: Apache-2.0

/// A calendar of a store.
public struct StoreCalendar: Hashable, Sendable, Codable {
    /// The calendar's id, which may change in a full sync.
    public var id: String
    public var title: String
    /// `#RRGGBB`; nil for a calendar without a colour.
    public var color: String?
    public var canWrite: Bool
    /// Whether new events go to this calendar by default.
    public var isDefault: Bool

    public init(id: String, title: String, color: String? = nil, canWrite: Bool = true, isDefault: Bool = false) {
        self.id = id
        self.title = title
        self.color = color
        self.canWrite = canWrite
        self.isDefault = isDefault
    }
}
