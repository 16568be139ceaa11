// SPDX-License-Identifier: Apache-2.0

/// One property of a component as text: a name, parameters and a value (RFC 5545 section 3.1).
///
/// It holds properties that have no field of their own, so that nothing is lost between reading and writing.
public struct ContentLine: Hashable, Sendable, Codable {
    public struct Parameter: Hashable, Sendable, Codable {
        /// The parameter's name in upper case.
        public var name: String
        /// The values without quotes, with RFC 6868's `^` escapes decoded.
        public var values: [String]

        public init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// The property's name in upper case.
    public var name: String
    public var parameters: [Parameter]
    /// The value as it is in the file, unfolded, with its escapes.
    public var value: String

    public init(name: String, parameters: [Parameter] = [], value: String) {
        self.name = name
        self.parameters = parameters
        self.value = value
    }

    /// The first value of the parameter with this upper-case name.
    public subscript(parameter name: String) -> String? {
        parameters.first { $0.name == name }?.values.first
    }
}
