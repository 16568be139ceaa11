// SPDX-License-Identifier: Apache-2.0

import CSandbox
import FoundationEssentials
import ICalBridge
import KalendsCore
import KalendsFront
import Server

/// The checks of `doctor` around the database: the disk, the clock, the certificate.
struct MachineChecks {
    let settings: ServerSettings
    /// Milliseconds since 1970.
    let now: Int

    /// With less free space than this the server is about to refuse changes.
    static let leastRoom = 256 << 20
    /// A certificate is normally renewed weeks before it expires; with fewer days left, the renewal has failed.
    static let certificateDays = 7
    /// How far the clock may be behind the latest recorded time, in milliseconds.
    static let clockSlack = 5 * 60_000

    func note(_ report: inout Doctor.Report) async throws {
        let (isRoom, room) = disk(DiskRoom(ofFolderOf: settings.database), size(settings.database))
        report.note("disk", isRoom, room)
        let latest = try await LocalClient.with(settings) { try await $0.json("GET", "/v1/audit?limit=1") }
        let written = latest["items"]?.array?.first?["atMilliseconds"]?.integer
        let (isRight, time) = clock(written, isKept: kalends_is_clock_synchronized() == 1)
        report.note("clock", isRight, time)
        if let file = settings.tlsCertificate {
            let (isValid, text) = certificate(file, CertificateDates(file: file))
            report.note("certificate", isValid, text)
        }
    }

    func disk(_ room: DiskRoom?, _ database: Int) -> (Bool, String) {
        guard let room else { return (false, "the system does not say how much room there is") }
        let text = "\(megabytes(room.free)) free beside a database of \(megabytes(database))"
        guard room.free >= Self.leastRoom else {
            return (false, "\(text): make room, or changes are refused and reads wait to be counted")
        }
        return (true, room.free < database ? "\(text): there is no room for a backup on this disk" : text)
    }

    /// - Parameter written: when the latest entry was recorded, in milliseconds since 1970; nil for a database without
    ///   entries.
    func clock(_ written: Int?, isKept: Bool) -> (Bool, String) {
        let shown = Instant(milliseconds: now).rfc3339(offset: 0)
        if let written, written > now + Self.clockSlack {
            return (false, "\(shown), behind the latest act (\(Instant(milliseconds: written).rfc3339(offset: 0)))")
        }
        return (
            true,
            shown
                + (isKept
                    ? ", synchronized with a time server"
                    : "; the system does not report that a time server synchronizes it")
        )
    }

    func certificate(_ file: String, _ dates: CertificateDates?) -> (Bool, String) {
        guard let dates else { return (false, "\(file) is not a certificate in PEM") }
        let (second, day) = (now / 1000, 86_400)
        let end = Instant(seconds: dates.notAfter).rfc3339(offset: 0)
        if second < dates.notBefore {
            return (false, "\(file) is valid only from \(Instant(seconds: dates.notBefore).rfc3339(offset: 0)) on")
        }
        if second > dates.notAfter { return (false, "\(file) expired at \(end)") }
        let days = (dates.notAfter - second) / day
        return (days >= Self.certificateDays, "\(file) expires at \(end), in \(days) \(days == 1 ? "day" : "days")")
    }

    private func size(_ file: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.size] as? UInt64).map { Int(clamping: $0) } ?? 0
    }

    private func megabytes(_ bytes: Int) -> String { "\((bytes + (1 << 20) - 1) >> 20) MiB" }
}
