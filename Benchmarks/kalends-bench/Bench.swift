// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kalends-bench", abstract: "Measure Kalends and others doing the same, in one run.",
        subcommands: [
            Render.self, Read.self, Expand.self, Rules.self, Hazards.self, Bare.self, Feeds.self, InStep.self,
        ])
}

/// The times of several runs of the same work.
struct Timing {
    let median: Duration

    /// Runs some work several times and keeps the median of its times.
    init(runs: Int, _ work: () throws -> Void) rethrows {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<runs { times.append(try clock.measure(work)) }
        median = times.sorted()[runs / 2]
    }

    var milliseconds: Double { median / .milliseconds(1) }
}

/// Keeps a result from being optimised away.
@inline(never)
func keep<Value>(_ value: Value) {}

func row(_ name: String, _ milliseconds: Double, _ note: String = "") {
    let dots = String(repeating: " ", count: max(1, 58 - name.count))
    print("\(name)\(dots)\(rounded(milliseconds, 3)) ms\(note.isEmpty ? "" : "   \(note)")")
}

func rounded(_ value: Double, _ digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    return String((value * scale).rounded() / scale)
}
