// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Exchange {
    /// Returns the element of a property of a resource as it is answered; nil if the resource does not have it.
    func property(_ name: PropertyName, of subject: Subject) -> [UInt8]? {
        if let stored = propertyContext.stored(of: subject)[name], LiveProperty.named[name]?.isProtected != true {
            return stored
        }
        guard let live = LiveProperty.named[name] else { return nil }
        let (start, end, _) = name.tags
        var out = start
        return live.write(subject, propertyContext, &out) ? out + end : nil
    }
}

extension XMLElement {
    /// Reads the element of a property as it is answered.
    init?(property: [UInt8]) {
        let text = Array("<D:prop\(PropertyName.declarations)>".utf8) + property + Array("</D:prop>".utf8)
        guard let element = (try? XMLReader.read(text))?.children.first else { return nil }
        self = element
    }

    /// Its text with that of all elements in it.
    var allText: [String] { [trimmed].filter { !$0.isEmpty } + children.flatMap(\.allText) }
}
