// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ICalBridge

struct Hazards: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure what twice as much of each hazard costs; fail when it takes more than 2.2 times as long.")

    @Option(help: "How many repetitions the largest file has.") var largest = 100_000
    @Option(help: "How many times as long twice as much may take.") var bar = 2.2
    @Option(help: "How often each size is read; the shortest time counts.") var runs = 5

    /// The shortest time that is compared: below it, the clock and the caches are measured.
    private var measurable: Duration { .milliseconds(2) }

    func run() throws {
        _ = keepsMemory
        print("\(HazardShape.all.count) hazards up to \(largest): mean and worst ratio for twice as much, time of all")
        var over: [String] = []
        for shape in HazardShape.all {
            let (mean, worst, last) = ratios(shape)
            let note = mean.map { "mean \(rounded($0, 2)), worst \(rounded(worst, 2))" } ?? "too short to compare"
            row(shape.name, last / .milliseconds(1), note)
            if max(mean ?? 0, worst) > bar { over.append(shape.name) }
        }
        guard over.isEmpty else {
            print("More than \(bar) times the time: \(over.joined(separator: ", "))")
            throw ExitCode.failure
        }
    }

    private func ratios(_ shape: HazardShape) -> (mean: Double?, worst: Double, last: Duration) {
        var options = CalendarReader.Options(limits: .large)
        // Only the time of this thread is measured.
        options.threads = 1
        let reader = CalendarReader(options: options)
        func shortest(_ bytes: [UInt8]) -> Duration {
            (0..<runs).map { _ in effort { keep(reader.read(bytes)) } }.min() ?? .zero
        }
        var count = largest / 64
        var bytes = shape.make(count)
        var time = shortest(bytes)
        var product = 1.0
        var doublings = 0.0
        var worst = 0.0
        while count * 2 <= largest {
            count = count * 4 > largest ? largest : count * 2
            let doubled = shape.make(count)
            var longer = shortest(doubled)
            // Other work on the machine can only make a time longer: the shortest of several is the reader's own.
            var tries = 0
            while time >= measurable, longer > time * bar, tries < 6 {
                time = min(time, shortest(bytes))
                longer = min(longer, shortest(doubled))
                tries += 1
            }
            if time >= measurable {
                worst = max(worst, longer / time)
                product *= longer / time
                doublings += 1
            }
            (bytes, time) = (doubled, longer)
        }
        return (doublings > 0 ? pow(product, 1 / doublings) : nil, worst, time)
    }
}
