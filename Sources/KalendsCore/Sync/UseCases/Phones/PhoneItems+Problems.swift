// SPDX-License-Identifier: Apache-2.0

import OfficeDays
import Storage

// The problem that keeps a device from its calendars is stored with the device, whether or not it carries anything: the
// person's page says so until the device reports otherwise.
extension PhoneItems {
    /// A request that ends a problem by itself.
    package enum Sign: Sendable {
        /// The device asks for changes, so nobody has disconnected it.
        case asksForChanges
        /// The device sends what is planned, so it may read.
        case sendsPlans

        fileprivate func ends(_ problem: PhoneProblem) -> Bool {
            switch self {
            case .asksForChanges: problem == .disconnected
            case .sendsPlans: problem.preventsReading
            }
        }
    }

    /// Notes that a device's request shows that its reported problem has ended.
    package func note(_ sign: Sign, of caller: Caller) async throws {
        try await change(of: caller) { problem in problem.map(sign.ends) ?? false ? nil : problem }
    }

    /// Notes what a device reports to keep it from its calendars, and from writing office days.
    func report(_ problem: PhoneProblem?, of user: String, for caller: Caller) async throws {
        try await change(of: caller) { _ in problem }
        try await reportOfficeDays(problem?.office, of: user, for: caller)
    }

    private func change(
        of caller: Caller, _ body: @escaping @Sendable (PhoneProblem?) -> PhoneProblem?
    ) async throws {
        guard let id = caller.device, case let user = try Rights.user(caller.identity) else { return }
        let isNews: @Sendable (any ReadTransaction) throws -> Bool = { transaction in
            guard let device = try transaction.device(id, of: user) else { return false }
            return body(device.problem.flatMap { PhoneProblem(text: $0) })?.rawValue != device.problem
        }
        // Most requests change nothing, and need not wait for other writers.
        guard try await context.store.read(isNews) else { return }
        try await context.acts.act(
            on: .user(user, touchingNoCircle: "No feed shows what keeps a phone from its calendars."), for: caller
        ) { act in
            let transaction = act.transaction
            guard try isNews(transaction), let device = try transaction.device(id, of: user) else {
                return .unchanged(())
            }
            let problem = body(device.problem.flatMap { PhoneProblem(text: $0) })
            try transaction.noteProblem(problem?.rawValue, ofDevice: id, now: act.now)
            return .unnoted("Nobody may read in a trail what a person does with their phone.", ())
        }
    }

    /// Notes what prevents the device that carries office days from writing them.
    private func reportOfficeDays(_ problem: OfficeProblem?, of user: String, for caller: Caller) async throws {
        let device = caller.device
        let isNews: @Sendable (any ReadTransaction) throws -> Bool = { transaction in
            guard let profile = try transaction.officeProfile(of: user), profile.problem != problem?.rawValue else {
                return false
            }
            let settings: OfficeSettings = try OfficeStored.read(profile.settings)
            let source: String
            switch settings.target {
            case .feed: return false
            case .device: source = PhoneCarrier.officeDays
            case .connection(let id):
                guard try transaction.connection(id)?.provider == .apple else { return false }
                source = id
            }
            return try transaction.phoneCarrier(of: user, source: source)?.carrier == device
        }
        guard try await context.store.read(isNews) else { return }
        try await context.acts.act(
            on: .user(user, touchingNoCircle: "No feed shows what keeps a phone from writing."), for: caller
        ) { act in
            guard try isNews(act.transaction) else { return .unchanged(()) }
            try OfficeDayEvents.note(
                [], written: 0, failed: problem == nil ? 0 : 1, problem: problem, of: user, now: act.now,
                in: act.transaction)
            return .unnoted("Nobody may read in a trail where a person's days are written.", ())
        }
    }
}
