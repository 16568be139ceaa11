// SPDX-License-Identifier: Apache-2.0

import Foundation

// kalends-fuzz LIBFUZZER-ARGUMENT…       inputs that learn from the code's branches
// kalends-fuzz mutate FOLDER RUNS SEED   real inputs with changes, spliced with each other
// kalends-fuzz document FOLDER RUNS SEED what the OpenAPI document describes, with and without faults
//
// The last two make the same inputs each time. An input that breaks a promise is kept in FOLDER/../findings, and the one
// that ended the process is there as `current-input-PID`, behind its length in four bytes.

/// libFuzzer's own `main`, with the program's arguments and the function that takes an input.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ take: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Checks an input; a broken promise ends the process, as a trap does.
private func check(_ input: [UInt8]) -> CInt {
    do {
        // An input that names no reader is not kept.
        return try Reader.check(input) ? 0 : -1
    } catch {
        fatalError("\(Reader.name(of: input)): \(error)")
    }
}

/// The processor time of this process in seconds; a machine that was busy elsewhere, or stopped it, is no finding.
private func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

let words = CommandLine.arguments
if words.count == 5, ["mutate", "document"].contains(words[1]), let runs = Int(words[3]), let seed = UInt64(words[4]) {
    let folder = URL(filePath: words[2])
    var inputs = words[1] == "mutate" ? InputGenerator(mutating: folder, seed) : InputGenerator(document: seed)
    let findings = folder.deletingLastPathComponent().appending(path: "findings")
    var broken = 0
    let start = ContinuousClock.now
    for number in 0..<runs {
        let input = inputs.next()
        CurrentInput.keep(input, in: findings)
        let begun = processorTime()
        do {
            _ = try Reader.check(input)
            try promise(processorTime() - begun < 5, "An input took more than 5 s of the processor.")
        } catch {
            broken += 1
            let name = Reader.name(of: input)
            print("#\(number) \(name): \(error)")
            try? Data(input).write(to: findings.appending(path: "\(name)-\(seed)-\(number)"))
        }
        if broken == 50 { break }
    }
    CurrentInput.remove(findings)
    print("\(words[1]): \(runs) inputs of seed \(seed) in \(ContinuousClock.now - start), \(broken) broke a promise")
    if broken > 0 { exit(1) }
} else {
    var count = CommandLine.argc
    var arguments = unsafe CommandLine.unsafeArgv
    _ = unsafe runDriver(&count, &arguments) { start, count in
        // libFuzzer lends `count` bytes for the length of this call; they are copied here.
        check(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    }
}
