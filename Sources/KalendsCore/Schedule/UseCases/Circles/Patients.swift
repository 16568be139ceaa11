// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The patients of a circle.
package struct Patients: Sendable {
    let acts: Acts
    let tidying: Tidying
    let quotas: Quotas
    let kinds: ItemKinds

    /// Returns the patients who were not removed, in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Patient] {
        try await acts.read(in: circle, for: caller) { try $0.patients(page) }
    }

    package func get(_ id: String, in circle: String, for caller: Caller) async throws -> Patient {
        let found = try await acts.read(in: circle, for: caller) {
            try $0.transaction.patientEverKnown(id, in: circle)
        }
        guard let found, found.removedAt == nil else { throw Refusal.missing(.patient) }
        return found
    }

    /// Adds or changes a patient; throws `Refusal` when the circle has the maximum number of patients.
    package func put(
        _ id: String, in circle: String, displayName: String, if condition: Precondition<Patient>, for caller: Caller
    ) async throws -> (Patient, isNew: Bool) {
        let most = quotas.clamped(to: caller.identity).patientsPerCircle
        let put = try await acts.act(on: .circle(circle, .manage), in: .circle(circle), for: caller) { act in
            let transaction = act.transaction
            let known = try transaction.patientEverKnown(id, in: circle)
            let old = known.flatMap { $0.removedAt == nil ? $0 : nil }
            try condition.check(old)
            if try known == nil && transaction.patientCount(in: circle) >= most {
                throw Refusal.quota("A circle has", most, "patients, counting those who were taken out")
            }
            let put = try transaction.putPatient(
                id, in: circle, displayName: displayName, titles: kinds.namesInTitles, now: act.now)
            if put.isNew { return ActResult(put, noting: AuditNote(.patientAdded, id)) }
            return .changed(
                put,
                noting: AuditNote(.patientChanged, id, changed: ["displayName": old?.displayName != displayName]))
        }
        try await tidying.revise(in: circle)
        return put
    }

    package func delete(
        _ id: String, in circle: String, if condition: Precondition<Patient>, for caller: Caller
    ) async throws {
        try await acts.act(on: .circle(circle, .manage), in: .circle(circle), for: caller) { act in
            let known = try act.transaction.patientEverKnown(id, in: circle)
            guard let old = known, old.removedAt == nil else { throw Refusal.missing(.patient) }
            try condition.check(old)
            guard try act.transaction.removePatient(id, from: circle, now: act.now) else {
                throw Refusal.missing(.patient)
            }
            return ActResult(noting: AuditNote(.patientRemoved, id))
        }
    }
}

extension AuthorizedCircle {
    /// Returns the patients who were not removed, in order of id.
    package func patients(_ page: PageRequest) throws -> [Patient] {
        let all = try transaction.patientsEverKnown(in: id)
        return Array(all.filter { $0.removedAt == nil && $0.id > page.after }.prefix(page.limit))
    }
}
