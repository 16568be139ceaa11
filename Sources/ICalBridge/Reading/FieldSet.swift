// SPDX-License-Identifier: Apache-2.0

/// The properties found in a component that may appear only once, by the numbers of their keys.
struct FieldSet: Equatable {
    private var bits: UInt32 = 0

    subscript(key: PropertyKey) -> Bool {
        get { bits >> UInt32(key.rawValue) & 1 == 1 }
        set {
            let bit = UInt32(1) << UInt32(key.rawValue)
            bits = newValue ? bits | bit : bits & ~bit
        }
    }

    func contains(_ field: DecodedProperty.Field) -> Bool { self[field.key] }

    mutating func insert(_ field: DecodedProperty.Field) { self[field.key] = true }
}

extension DecodedProperty.Field {
    fileprivate var key: PropertyKey {
        switch self {
        case .uid: .uid
        case .summary: .summary
        case .description: .description
        case .location: .location
        case .url: .url
        case .categories: .categories
        case .sequence: .sequence
        case .start: .start
        case .end: .end
        case .due: .due
        case .duration: .duration
        case .recurrenceID: .recurrenceID
        case .exclusion: .exclusion
        case .addition: .addition
        case .timestamp: .timestamp
        case .created: .created
        case .lastModified: .lastModified
        case .trigger: .trigger
        }
    }
}
