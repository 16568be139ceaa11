// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Patients")
struct PatientTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A new patient raises the circle's version; a put of what is there changes nothing")
    func puts() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            let before = try transaction.version() ?? 0
            let (rosa, isNew) = try transaction.putPatient("rosa", in: "home", displayName: "Rosa", now: 5)
            #expect(isNew)
            #expect(try transaction.version() == before + 1)
            let (again, isNewAgain) = try transaction.putPatient("rosa", in: "home", displayName: "Rosa", now: 6)
            #expect(!isNewAgain)
            #expect(again == rosa)
            #expect(try transaction.version() == before + 1)
            #expect(try transaction.patientsEverKnown(in: "home").map(\.id) == ["pia", "quin", "rosa"])
        }
    }

    @Test("A new name revises only that patient's shifts and appointments, whose titles contain it")
    func renames() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            for (id, patient) in [("of-pia", "pia"), ("of-quin", "quin"), ("of-nobody", nil), ("deleted", "pia")] {
                for collection in ScheduleItem.Collection.all {
                    try transaction.put(.sample(id, collection, patient: patient))
                }
            }
            for collection in ScheduleItem.Collection.all {
                _ = try transaction.deleteItem("deleted", collection, in: "home", now: 2)
            }
            try transaction.put(.sample("of-pia", .shifts, in: "other", patient: "pia"))
            let before = try transaction.version() ?? 0
            let (pia, isNew) = try transaction.putPatient(
                "pia", in: "home", displayName: "Pia M.", titles: NamesInTitles(ofPatients: [.shifts, .appointments]),
                now: 9)
            #expect(!isNew)
            #expect(pia.displayName == "Pia M." && pia.createdAt == 1 && pia.updatedAt == 9)
            #expect(try transaction.version() == before + 1)

            for collection in [ScheduleItem.Collection.shifts, .appointments] {
                #expect(try transaction.sequence("of-pia", collection) == 1)
                #expect(try transaction.item("of-pia", collection, in: "home")?.updatedAt == 9)
            }
            for collection in [ScheduleItem.Collection.tasks, .followUps] {
                #expect(try transaction.sequence("of-pia", collection) == 0)
            }
            for collection in ScheduleItem.Collection.all {
                for id in ["of-quin", "of-nobody", "deleted"] {
                    #expect(try transaction.sequence(id, collection) == 0, "\(collection) \(id)")
                }
            }
            #expect(try transaction.sequence("of-pia", .shifts, in: "other") == 0)
        }
    }

    @Test("A new name revises items of a mebibyte at a time, and all of them in the end")
    func renamesLarge() async throws {
        let large = String(repeating: "n", count: 60_000)
        let left = try await home.write { transaction in
            try transaction.makeHome()
            for number in 100..<800 {
                let content = number < 150 ? large : "{}"
                try transaction.put(.sample("s\(number)", .shifts, patient: "pia", content: content))
            }
            let titles = NamesInTitles(ofPatients: [.shifts])
            _ = try transaction.putPatient("pia", in: "home", displayName: "Pia M.", titles: titles, now: 9)
            func revised() throws -> Int {
                try (100..<800).count { try transaction.sequence("s\($0)", .shifts) == 1 }
            }
            // The 18th reaches the bytes.
            #expect(try revised() == 18)
            var found = [18]
            repeat { found.append(try revised()) } while try transaction.reviseSomeDue(in: "home", titles, now: 10)
            found.append(try revised())
            #expect(found == [18, 18, 36, 536, 700])
            return try transaction.hasRevisionsDue(in: "home")
        }
        #expect(!left)
    }

    @Test("A removed patient is kept as a name, and comes back under the same id")
    func removes() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("s", .shifts, patient: "pia"))
            #expect(try transaction.removePatient("pia", from: "home", now: 5))
            #expect(try !transaction.removePatient("pia", from: "home", now: 6))
            #expect(try !transaction.removePatient("nobody", from: "home", now: 6))
            let removed = try transaction.patientEverKnown("pia", in: "home")
            #expect(removed?.displayName == "Pia")
            #expect(removed?.removedAt == 5)
            #expect(try transaction.item("s", .shifts, in: "home")?.patientID == "pia")

            let (pia, isNew) = try transaction.putPatient("pia", in: "home", displayName: "Pia", now: 9)
            #expect(isNew)
            #expect(pia.removedAt == nil && pia.createdAt == 1)
            #expect(try transaction.sequence("s", .shifts) == 0)
        }
    }
}
