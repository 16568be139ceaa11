// SPDX-License-Identifier: Apache-2.0

/// A person whom a circle cares for; one who was removed is kept as a name in old titles.
public struct Patient: Hashable, Sendable {
    public var circleID = ""
    public var id = ""
    public var displayName = ""
    public var createdAt = 0
    public var updatedAt = 0
    public var removedAt: Int?
}

extension Patient: StoredRow {
    static let table = RecordTable<Patient>(
        "patients",
        [
            .init("circle_id", \.circleID), .init("id", \.id), .init("display_name", \.displayName),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt), .init("removed_at", \.removedAt),
        ])
}

extension ReadTransaction {
    /// Returns a patient of the circle, including one who was removed.
    public func patientEverKnown(_ id: String, in circle: String) throws -> Patient? {
        try first("WHERE circle_id = $1 AND id = $2", [.text(circle), .text(id)])
    }

    /// Returns all patients in order of id, including removed ones.
    public func patientsEverKnown(in circle: String) throws -> [Patient] {
        try all("WHERE circle_id = $1 ORDER BY id", [.text(circle)])
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
        try put(Patient(circleID: circle, id: id, displayName: displayName, createdAt: now, updatedAt: now))
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
