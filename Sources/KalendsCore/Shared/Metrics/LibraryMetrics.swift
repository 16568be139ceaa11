// SPDX-License-Identifier: Apache-2.0

package import CoreMetrics
import Synchronization

/// Metrics that others report through swift-metrics, in Prometheus' text format after our own.
///
/// Names get Prometheus' form and units: `http.requests` counts as `http_requests_total`, and a timer is a histogram in
/// seconds. Each name has one kind, and ours are reserved: whatever else is reported under them is dropped.
package final class LibraryMetrics: MetricsFactory {
    /// The maximum number of series that are kept: a label with a stranger's text must not fill the memory.
    static let most = 10_000
    private static let reserved = ["kalends_", "process_"]

    private struct Family {
        let kind: LibrarySeries.Kind
        var series: [ByteString: LibrarySeries] = [:]
    }

    private struct Table {
        var families: [ByteString: Family] = [:]
        var count = 0
    }

    private let table = Mutex(Table())

    package init() {}

    /// The metrics in the exposition format, version 0.0.4; empty when nobody reports any.
    package var exposition: String {
        let families = table.withLock(\.families).sorted { $0.key < $1.key }
        return families.map { name, family in
            let lines = family.series.sorted { $0.key < $1.key }.map { $1.lines("\(name)", "\($0)") }
            return "# HELP \(name) Reported through swift-metrics.\n# TYPE \(name) \(family.kind.rawValue)\n"
                + lines.joined()
        }.joined()
    }

    /// Returns the series of a name and labels; nil when there is no room, or the name is another kind's.
    private func series(_ kind: LibrarySeries.Kind, _ label: String, _ dimensions: [(String, String)]) -> LibrarySeries?
    {
        let plain = Self.name(label)
        let name = plain + kind.ending(after: plain)
        guard !Self.reserved.contains(where: name.hasPrefix) else { return nil }
        let labels = ByteString(Self.labels(dimensions))
        return table.withLock { table in
            var family = table.families[ByteString(name)] ?? Family(kind: kind)
            if let known = family.series[labels] { return family.kind == kind ? known : nil }
            guard family.kind == kind, table.count < Self.most else { return nil }
            let new = LibrarySeries(kind)
            family.series[labels] = new
            table.families[ByteString(name)] = family
            table.count += 1
            return new
        }
    }

    /// A name in Prometheus' form: letters, digits and `_`, no digit first.
    private static func name(_ label: String) -> String {
        let name = String(
            decoding: label.utf8.map { byte in
                switch byte {
                case 48...57, 65...90, 95, 97...122: byte
                default: UInt8(ascii: "_")
                }
            }, as: UTF8.self)
        return (name.utf8.first.map { (48...57).contains($0) } ?? true) ? "_" + name : name
    }

    /// The labels between the braces, sorted by name, with values escaped.
    private static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { "\(name($0))=\"\(escaped($1))\"" }.sorted { ByteString($0) < ByteString($1) }
            .joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(.counter, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(.gauge, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        series(aggregate ? .summary : .gauge, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.histogram, label, dimensions) ?? NOOPMetricsHandler.instance
    }

    // Counts stay: a counter that is made again goes on.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
