// SPDX-License-Identifier: Apache-2.0

/// The path from a document to a value in it, which is written out only on request.
final class DecodingPath {
    private let parent: DecodingPath?
    private let step: any CodingKey

    init(_ parent: DecodingPath?, _ step: any CodingKey) {
        self.parent = parent
        self.step = step
    }

    static func keys(of path: DecodingPath?) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var place = path
        while let step = place {
            keys.append(step.step)
            place = step.parent
        }
        return keys.reversed()
    }
}

/// The step to an element of a list.
struct ElementKey: CodingKey {
    let index: Int

    var stringValue: String { String(index) }
    var intValue: Int? { index }

    init(_ index: Int) { self.index = index }
    init?(intValue: Int) { self.init(intValue) }
    init?(stringValue: String) { nil }
}

/// The step to the superclass's part of an encoded class, where it has no name of its own.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(intValue: Int) { nil }
    init?(stringValue: String) { nil }
}
