// SPDX-License-Identifier: Apache-2.0

import CSandbox
import FoundationEssentials
import Glibc

/// The process metrics that Prometheus' own clients report, under the same names.
struct ProcessMetrics {
    /// The fields of `/proc/self/stat`, starting with the state (proc(5)).
    private let fields: [Substring]

    init() {
        let text = (try? InputFile("/proc/self/stat", limit: 4096).whole()).map { String(decoding: $0, as: UTF8.self) }
        // The program's name may itself contain blanks and parentheses.
        let bytes = text?.utf8
        let rest = bytes?.lastIndex(of: UInt8(ascii: ")")).map { Substring(bytes?[$0...].dropFirst() ?? "".utf8[...]) }
        fields = rest?.pieces(separatedBy: " ") ?? []
    }

    /// The metrics in the exposition format; empty if the system has no such files.
    var exposition: String {
        let ticks = Double(sysconf(CInt(_SC_CLK_TCK)))
        // The indices count from the third field in the manual.
        guard let user = number(11), let system = number(12), let start = number(19), let virtual = number(20),
            let pages = number(21)
        else { return "" }
        var limit = rlimit()
        // The call writes only the structure it is given.
        let hasLimit = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        var text = """
            # HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.
            # TYPE process_cpu_seconds_total counter
            process_cpu_seconds_total \((user + system) / ticks)
            # HELP process_resident_memory_bytes Resident memory size in bytes.
            # TYPE process_resident_memory_bytes gauge
            process_resident_memory_bytes \(Int(pages) * sysconf(CInt(_SC_PAGESIZE)))
            # HELP kalends_allocated_memory_bytes Bytes that the program holds of the C library's allocator.
            # TYPE kalends_allocated_memory_bytes gauge
            kalends_allocated_memory_bytes \(kalends_allocated_memory())
            # HELP process_virtual_memory_bytes Virtual memory size in bytes.
            # TYPE process_virtual_memory_bytes gauge
            process_virtual_memory_bytes \(Int(virtual))
            # HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds \(Self.bootedAt + start / ticks)
            # HELP process_open_fds Number of open file descriptors.
            # TYPE process_open_fds gauge
            process_open_fds \(open)

            """
        if hasLimit {
            text += """
                # HELP process_max_fds Maximum number of open file descriptors.
                # TYPE process_max_fds gauge
                process_max_fds \(limit.rlim_cur)

                """
        }
        return text
    }

    private func number(_ index: Int) -> Double? { fields.indices.contains(index) ? Double(fields[index]) : nil }

    /// When the machine was booted, in seconds since 1970.
    private static var bootedAt: Double {
        var (now, running) = (timespec(), timespec())
        // Each call writes only the structure it is given.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        unsafe clock_gettime(CLOCK_BOOTTIME, &running)
        return seconds(now) - seconds(running)
    }

    private static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
}
