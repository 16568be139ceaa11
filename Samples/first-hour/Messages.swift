// SPDX-License-Identifier: Apache-2.0
// What the host application sends, and what it reads of the answers

struct Circle: Encodable {
    let name: String
    let timeZone: String
}

struct Member: Encodable {
    let displayName: String
    let role: String
}

struct Patient: Encodable {
    let displayName: String
}

struct NewTask: Encodable {
    var title = "Refill pills"
    let dueAt: String
    var durationMinutes = 30
    var reminders = [15]
    var notes: String?
}

struct Item: Decodable {
    let id: String
    let sequence: Int
    let durationMinutes: Int
    let notes: String?
}

struct Shift: Encodable {
    let patientId, ownerId, startAt, endAt: String
}

struct Appointment: Encodable {
    let patientId, provider, startAt: String
    let recurrence: [String: String]
}

struct FollowUp: Encodable {
    let description, dueAt: String
}

struct BatchLine: Encodable {
    struct Value: Encodable {
        let title: String?
        let dueAt: String
    }

    var op = "put"
    var collection = "tasks"
    let id: String
    let value: Value
}

struct BatchReport: Decodable {
    struct Rejected: Decodable {
        let line: Int
        let id: String?
        let errors: [Refused.Fault]
    }

    let applied: Int
    let unchanged: Int
    let rejected: [Rejected]
}

struct Page<Element: Decodable>: Decodable {
    let items: [Element]
    let nextCursor: String?
}

struct Changes: Decodable {
    let items: [Change]
    let latest: Int
    let nextCursor: Int?
}

struct NewFeed: Encodable {
    let userId, label: String
}

struct Address: Decodable {
    let url: String
}

struct Feed: Decodable {
    let id: String
    let url: String
}

struct NewWebhook: Encodable {
    let url: String
    let circles: [String]
}

struct Webhook: Decodable {
    let id: String
    let secret: String
}
