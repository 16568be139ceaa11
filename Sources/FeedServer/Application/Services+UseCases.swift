// SPDX-License-Identifier: Apache-2.0

extension Services {
    var acts: Acts { Acts(store: store, now: now) }
    var circles: Circles { Circles(acts: acts, tidying: tidying, forgetRendering: { renderer.forget(circle: $0) }) }
    var members: Members { Members(acts: acts, tidying: tidying, quotas: settings.quotas) }
    var patients: Patients { Patients(acts: acts, tidying: tidying, quotas: settings.quotas) }
}
