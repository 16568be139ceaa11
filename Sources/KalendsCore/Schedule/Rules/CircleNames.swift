// SPDX-License-Identifier: Apache-2.0

import Storage

/// The names that appear in titles, by id, including those of people who left.
package struct CircleNames: Hashable, Sendable {
    package var patients: [ByteString: String]
    package var members: [ByteString: String]

    init(patients: [ByteString: String] = [:], members: [ByteString: String] = [:]) {
        self.patients = patients
        self.members = members
    }

    init(_ circle: String, in transaction: any ReadTransaction) throws {
        patients = Dictionary(
            uniqueKeysWithValues: try transaction.patientsEverKnown(in: circle).map { ($0.id, $0.displayName) })
        members = Dictionary(
            uniqueKeysWithValues: try transaction.membersEverKnown(in: circle).map { ($0.userID, $0.displayName) })
    }

    package func patient(_ id: String) -> String { patients[id] ?? id }
    package func member(_ id: String) -> String { members[id] ?? id }
}

extension [Patient] {
    /// Returns those whose names are among categories.
    func named(in categories: [String]) -> [Patient] {
        filter { patient in categories.contains { $0.trimmed.isSameText(as: patient.displayName.trimmed) } }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}
