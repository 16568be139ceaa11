// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Indexes of items by patient and owner, only of items that have one: most items have neither, and each cost a
    /// batch an entry.
    ///
    /// This is an expansion: who looks for a patient's items looks for no items without one, in an earlier program too.
    static let peopleIndexes: [String] = [
        "DROP INDEX schedule_items_by_patient",
        "DROP INDEX schedule_items_by_owner",
        "CREATE INDEX schedule_items_by_patient ON schedule_items (circle_id, patient_id) WHERE patient_id IS NOT NULL",
        "CREATE INDEX schedule_items_by_owner ON schedule_items (circle_id, owner_id) WHERE owner_id IS NOT NULL",
    ]
}
