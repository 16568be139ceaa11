// SPDX-License-Identifier: Apache-2.0

/// What a change does to a value that need not be there.
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
