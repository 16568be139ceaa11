// SPDX-License-Identifier: Apache-2.0

/// libFuzzer calls this with each input; a broken promise ends the process, and libFuzzer keeps the input.
///
/// It is compiled into one module with Sources/ICalBridge (Scripts/fuzz.sh), so that the reader is instrumented too.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer lends `count` bytes for the length of this call; they are copied here.
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let reading = ReadingPromises.check(bytes)
    // Processing a reading costs twenty times the reading itself. One input in eight has all of it, always the same
    // ones, so that what is found is found again.
    var hash = StableHash()
    hash.combine(bytes)
    guard hash.hex.utf8.last.map({ $0 == 48 || $0 == 56 }) == true else { return 0 }
    ReadingPromises.checkWays(bytes, reading)
    SeriesPromises.check(reading)
    WritingPromises.check(reading)
    FormPromises.check(bytes, reading)
    return 0
}

/// Ends the process with a sentence when something that must always hold does not.
func promise(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError(sentence()) }
}

/// The first place where two texts differ, for the sentence.
func difference(_ a: String, _ b: String) -> String {
    let (left, right) = (Array(a.utf8), Array(b.utf8))
    let index = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
    func around(_ bytes: [UInt8]) -> String {
        String(decoding: bytes[max(0, min(index, bytes.count) - 120)..<min(bytes.count, index + 120)], as: UTF8.self)
    }
    return "\nat \(index) of \(left.count) and \(right.count)\n--- one\n\(around(left))\n--- other\n\(around(right))"
}
