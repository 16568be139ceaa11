// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import OfficeDays
import Storage

extension WriteTransaction {
    /// Stores the problem that prevents a connection from writing its user's office days; a run without failure has no
    /// problem. Temporary failures are not reported as problems.
    func noteOfficeProblem(_ failure: ProviderFailure?, of own: Connection, now: Int) throws {
        guard own.provider != .apple, let profile = try officeProfile(of: own.userID) else { return }
        let settings: OfficeSettings = try OfficeStored.read(profile.settings)
        guard settings.target == .connection(own.id) else { return }
        let problem: OfficeProblem?
        switch failure?.kind {
        case nil: problem = nil
        case .unauthorized: problem = .needsReconnect
        case .forbidden: problem = .calendarReadOnly
        case .calendarMissing: problem = .calendarGone
        default: return
        }
        guard profile.problem != problem?.rawValue else { return }
        try OfficeDayEvents.note(
            [], written: 0, failed: problem == nil ? 0 : 1, problem: problem, of: own.userID, now: now, in: self)
    }
}
