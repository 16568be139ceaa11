// SPDX-License-Identifier: Apache-2.0

/// A change to an optional value.
package enum Edit<Value: Sendable>: Sendable {
    case keep
    case clear
    case set(Value)

    func applied(to old: Value?) -> Value? {
        switch self {
        case .keep: old
        case .clear: nil
        case .set(let value): value
        }
    }
}
