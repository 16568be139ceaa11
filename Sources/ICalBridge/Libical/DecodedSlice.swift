// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// What libical read from one slice, copied into values.
struct DecodedSlice: Sendable {
    var properties: [DecodedProperty] = []
    /// The subcomponents in the order of the slice.
    var children: [DecodedSlice] = []
    /// What libical reported about properties that it refused.
    var errors: [String] = []
}

extension DecodedSlice {
    /// Reads a slice that ends with a NUL; nil when libical cannot parse it as a component.
    init?(_ slice: [UInt8]) {
        guard let handle = ComponentHandle(parsing: slice) else { return nil }
        let copied = unsafe handle.withBorrowedPointer { unsafe DecodedSlice(copying: $0, depth: 0) }
        guard let copied else { return nil }
        self = copied
    }

    private init?(copying component: OpaquePointer, depth: Int) {
        // The slices that we write have two levels; libical would recurse without a limit.
        guard depth <= 2 else { return nil }
        guard unsafe icalcomponent_isa(component) != ICAL_XROOT_COMPONENT else { return nil }
        // Proof: libical's iterators return pointers that live as long as the component, which the caller holds.
        var property = unsafe icalcomponent_get_first_property(component, ICAL_ANY_PROPERTY)
        while let current = unsafe property {
            if unsafe icalproperty_isa(current) == ICAL_XLICERROR_PROPERTY {
                let error = unsafe icalproperty_get_value_as_string(current)
                unsafe errors.append(error.map { unsafe String(cString: $0).fromOutside } ?? "")
            } else if let decoded = unsafe DecodedProperty(copying: current) {
                properties.append(decoded)
            }
            unsafe property = icalcomponent_get_next_property(component, ICAL_ANY_PROPERTY)
        }
        var child = unsafe icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT)
        while let current = unsafe child {
            if let decoded = unsafe DecodedSlice(copying: current, depth: depth + 1) { children.append(decoded) }
            unsafe child = icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT)
        }
    }
}
