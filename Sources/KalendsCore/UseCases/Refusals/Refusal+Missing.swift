// SPDX-License-Identifier: Apache-2.0

import Base
package import Storage

extension Refusal {
    /// What a path names and a caller asks for.
    package enum Resource: String, Sendable {
        case appointment, circle, conflict, connection, device, event, feed, member, occurrence, patient, run, session
        case shift, subscription, task, user
        case visit, webhook
        case followUp = "follow-up"
        case `import` = "import"
        case key = "service key"

        fileprivate var code: ProblemCode {
            switch self {
            case .appointment: .appointmentNotFound
            case .circle: .circleNotFound
            case .conflict: .conflictNotFound
            case .connection: .connectionNotFound
            case .device: .deviceNotFound
            case .event: .eventNotFound
            case .feed: .feedNotFound
            case .followUp: .followUpNotFound
            case .import: .importNotFound
            case .key: .keyNotFound
            case .member: .memberNotFound
            case .occurrence: .occurrenceNotFound
            case .patient: .patientNotFound
            case .run: .runNotFound
            case .session: .sessionNotFound
            case .shift: .shiftNotFound
            case .subscription: .subscriptionNotFound
            case .task: .taskNotFound
            case .user: .userNotFound
            case .visit: .visitNotFound
            case .webhook: .webhookNotFound
            }
        }
    }

    /// Names what is not there; the same for what is there and not the caller's.
    package static func missing(_ resource: Resource) -> Refusal {
        Refusal(
            .missing, code: resource.code,
            detail: "There is no such \(resource.rawValue), or you may not see it.")
    }
}

extension ScheduleItem.Collection {
    /// One of its items.
    package var resource: Refusal.Resource {
        switch self {
        case .tasks: .task
        case .shifts: .shift
        case .appointments: .appointment
        case .followUps: .followUp
        }
    }
}
