// SPDX-License-Identifier: Apache-2.0

import EventKitStandIn
import Foundation

@testable import KalendsCompanion

extension PhoneWorld {
    /// Makes a known trouble of phones happen, for the next run or for good.
    func fault() {
        switch dice.pick(11) {
        case 0:
            trace.append("full sync")
            device.fullSync(calendarsToo: dice.isOne(in: 3))
        case 1:
            let rows = device.events.filter { $0.value.rules.isEmpty && $0.value.calendar == home }.keys.sorted()
            if let number = dice.pick(rows) {
                trace.append("duplicate of \(number)")
                device.duplicate(number, into: dice.isOne(in: 2) ? hidden : home)
            }
        case 2:
            trace.append("a calendar is away")
            let calendar = dice.pick(device.calendars)?.id ?? home
            device.change(calendar: calendar) { $0.isHidden = true }
        case 3: strike("permission goes") { [device] in device.authorization = .denied }
        case 4: strike("permission to add only") { [device] in device.authorization = .writeOnly }
        case 5:
            trace.append("commits fail")
            device.failingCommits = 1 + dice.pick(3)
        case 6: strike("time runs out") { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
        case 7:
            strike("a calendar goes") { [device, home, work, mirror] in
                for id in [home, work, mirror] { device.change(calendar: id) { $0.isHidden = true } }
            }
        default:
            let troubles: [ModelServer.Trouble] = [.offline, .lostAnswer, .serverError]
            server.trouble = troubles[dice.pick(3)]
            trace.append("the server: \(server.trouble.map { "\($0)" } ?? "")")
        }
    }

    /// Makes something happen in the middle of a run.
    private func strike(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let left = Shared(dice.pick(40))
        trace.append("\(name) after \(left.now) calls")
        device.onCall { _ in
            let isNow = left.with { count in
                count -= 1
                return count == -1
            }
            if isNow { body() }
        }
    }

    /// Ends all faults.
    func mend() {
        device.onCall(nil)
        device.failingCommits = 0
        server.trouble = nil
        if device.authorization != .fullAccess { device.authorization = .fullAccess }
        for calendar in device.calendars where calendar.isHidden {
            device.change(calendar: calendar.id) { $0.isHidden = false }
        }
    }
}

extension StandInDevice {
    /// Makes one commit from now on fail; 1 is the next one.
    func failCommit(_ number: Int) {
        let left = Shared(number)
        onCall { [weak self] name in
            guard name == "commit" else { return }
            let isNow = left.with { count in
                count -= 1
                return count == 0
            }
            if isNow { self?.failingCommits = 1 }
        }
    }
}
