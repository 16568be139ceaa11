// SPDX-License-Identifier: Apache-2.0

extension Refusal {
    /// The fields of a refusal for programs, in addition to its sentence.
    package enum Extra: Hashable, Sendable {
        case feed(String)
        case subscription(String)
        case connection(String)
        case run(String)
        /// The settings that are missing, by the variables that have them.
        case settings([String])
        /// The numbers of the changes that are still known.
        case changes(oldest: Int, latest: Int)
        /// The number of the change that undid what was to be undone.
        case undone(by: Int)
        /// The number of the change that it came with.
        case part(of: Int)
        /// The change that is in the way; its time is in milliseconds since 1970.
        case changed(by: String?, at: Int, number: Int)

        /// The members of the problem document.
        package var members: [ByteString: JSONValue] {
            switch self {
            case .feed(let id): ["feedId": .string(id)]
            case .subscription(let id): ["subscriptionId": .string(id)]
            case .connection(let id): ["connectionId": .string(id)]
            case .run(let id): ["runId": .string(id)]
            case .settings(let names): ["settings": names.json]
            case .changes(let oldest, let latest): ["oldest": .integer(oldest), "latest": .integer(latest)]
            case .undone(let number): ["undoneBy": .integer(number)]
            case .part(let number): ["partOf": .integer(number)]
            case .changed(let author, let at, let number):
                ["by": JSONValue(author), "at": JSONValue(milliseconds: at), "number": .integer(number)]
            }
        }
    }
}
