// SPDX-License-Identifier: Apache-2.0

import Logging

extension Services {
    var acts: Acts { Acts(store: store, now: now) }
    var circles: Circles { Circles(acts: acts, tidying: tidying, forgetRendering: { renderer.forget(circle: $0) }) }
    var members: Members { Members(acts: acts, tidying: tidying, quotas: settings.quotas) }
    var patients: Patients { Patients(acts: acts, tidying: tidying, quotas: settings.quotas) }
    var changes: CircleChanges { CircleChanges(acts: acts) }
    var schedule: Schedule { Schedule(acts: acts, quotas: settings.quotas) }
    var occurrences: Occurrences { Occurrences(acts: acts, quotas: settings.quotas) }
    var serviceKeys: ServiceKeys { ServiceKeys(acts: acts) }
    var users: Users { Users(acts: acts, passwords: passwords) }
    var sessions: Sessions { Sessions(acts: acts, passwords: passwords, quotas: settings.quotas) }
    var signInLinks: SignInLinks { SignInLinks(acts: acts, quotas: settings.quotas) }
    var operatorSessions: OperatorSessions { OperatorSessions(acts: acts) }
    var devices: Devices { Devices(acts: acts, quotas: settings.quotas) }
    var profiles: Profiles { Profiles(acts: acts) }
    var personalEvents: PersonalEvents { PersonalEvents(acts: acts, quotas: settings.quotas) }
    var plannedEvents: PlannedEvents { PlannedEvents(acts: acts, quotas: settings.quotas) }
    var officeDiary: OfficeDiary { OfficeDiary(acts: acts) }
    func phoneItems(_ logger: Logger) -> PhoneItems { PhoneItems(services: self, logger: logger) }
    var connections: Connections { Connections(services: self) }
    var appleConnector: AppleConnector { AppleConnector(services: self) }
    /// Providers of people's calendars, by connection.
    var providers: ConnectionProviders {
        ConnectionProviders(settings: settings, store: store, key: sealingKey, grants: grants, now: now)
    }
    var statistics: Statistics { Statistics(acts: acts) }
    var audit: Audit { Audit(acts: acts) }
    var upkeep: Upkeep {
        Upkeep(acts: acts, maintenance: maintenance, counter: counter, stopping: stopping, rotation: rotation)
    }

    /// Many changes of a circle's items in one call.
    func batch(in circle: String, for caller: Caller) -> ScheduleBatch {
        ScheduleBatch(acts: acts, quotas: settings.quotas, circle: circle, caller: caller)
    }
}
