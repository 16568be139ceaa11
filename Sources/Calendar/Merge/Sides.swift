// SPDX-License-Identifier: Apache-2.0

/// Something as each side has it, and as each had it when both last agreed; nil for a side where that is unknown.
///
/// Each side has a base of its own, so that its own form of a value does not count as a change.
public struct Sides<Value> {
    public var here: Value
    public var there: Value
    public var wasHere: Value?
    public var wasThere: Value?

    public init(here: Value, there: Value, wasHere: Value?, wasThere: Value?) {
        (self.here, self.there, self.wasHere, self.wasThere) = (here, there, wasHere, wasThere)
    }

    /// Decides about each of some fields, and returns both sides with what is taken over here and written there.
    public func merged<Field, Part>(
        _ fields: some Sequence<Field>, reading part: (Value, Field) -> Part,
        taking: (inout Value, Field, _ from: Value) -> Void, by decide: (Field, Sides<Part>) -> Verdict
    ) -> (here: Value, there: Value) {
        var merged = (here: here, there: there)
        for field in fields {
            let parts = Sides<Part>(
                here: part(here, field), there: part(there, field), wasHere: wasHere.map { part($0, field) },
                wasThere: wasThere.map { part($0, field) })
            switch decide(field, parts) {
            case .same, .leave: break
            case .write: taking(&merged.there, field, here)
            case .take: taking(&merged.here, field, there)
            }
        }
        return merged
    }
}

extension Sides where Value: Equatable {
    public var isSame: Bool { here == there }
    /// Whether that side has another value than before; so it counts, too, when the earlier value is unknown.
    public var isChangedHere: Bool { wasHere.map { $0 != here } ?? true }
    public var isChangedThere: Bool { wasThere.map { $0 != there } ?? true }
}
