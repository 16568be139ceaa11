// SPDX-License-Identifier: Apache-2.0

/// A person whom a circle cares for; one who was removed is kept as a name in old titles.
public struct Patient: Hashable, Sendable {
    public var circleID: String
    public var id: String
    public var displayName: String
    public var createdAt: Int
    public var updatedAt: Int
    public var removedAt: Int?

    init(_ row: SQLRow) throws {
        circleID = try row.text(required: "circle_id")
        id = try row.text(required: "id")
        displayName = try row.text(required: "display_name")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
        removedAt = row.integer("removed_at")
    }
}

extension ReadTransaction {
    /// Returns a patient of the circle, including one who was removed.
    public func patientEverKnown(_ id: String, in circle: String) throws -> Patient? {
        try row("\(select: .patients) WHERE circle_id = $1 AND id = $2", [.text(circle), .text(id)])
            .map(Patient.init)
    }

    /// Returns all patients in order of id, including removed ones.
    public func patientsEverKnown(in circle: String) throws -> [Patient] {
        try rows("\(select: .patients) WHERE circle_id = $1 ORDER BY id", [.text(circle)]).map(Patient.init)
    }
}

extension WriteTransaction {
    /// Adds or changes a patient, or restores one who was removed.
    ///
    /// - Parameter titles: the collections whose items look different when the name changes.
    public func putPatient(
        _ id: String, in circle: String, displayName: String, titles: NamesInTitles = NamesInTitles(), now: Int
    ) throws -> (Patient, isNew: Bool) {
        let old = try patientEverKnown(id, in: circle)
        if let old, old.removedAt == nil, old.displayName == displayName { return (old, false) }
        try execute(
            """
            INSERT INTO patients (circle_id, id, display_name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
            ON CONFLICT (circle_id, id) DO UPDATE SET display_name = EXCLUDED.display_name,
                updated_at = EXCLUDED.updated_at, removed_at = NULL
            """, [.text(circle), .text(id), .text(displayName), .integer(now)])
        if let old, old.displayName != displayName { try revise(because: .patient(id), in: circle, titles, now: now) }
        try touchCircle(circle, now: now)
        guard let new = try patientEverKnown(id, in: circle) else {
            throw StorageError.unexpectedResult("A patient was not kept.")
        }
        let isNew = old == nil || old?.removedAt != nil
        try note(.patient, isNew ? .created : .updated, in: circle, id: id, now: now)
        return (new, isNew)
    }

    /// Removes a patient; items keep the name. Returns false when there is no such patient.
    public func removePatient(_ id: String, from circle: String, now: Int) throws -> Bool {
        let removed = try execute(
            "UPDATE patients SET removed_at = $3, updated_at = $3 WHERE circle_id = $1 AND id = $2 AND removed_at IS NULL",
            [.text(circle), .text(id), .integer(now)])
        guard removed > 0 else { return false }
        try note(.patient, .deleted, in: circle, id: id, now: now)
        return true
    }
}
