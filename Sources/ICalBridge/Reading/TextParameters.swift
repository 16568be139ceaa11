// SPDX-License-Identifier: Apache-2.0

/// The parameters of a text that stay with it.
enum TextParameters {
    /// Those that say more than how the value is written; nil when the value is written in vCalendar 1.0's ways.
    static func kept(of property: Property) -> [ContentLine.Parameter]? {
        var kept: [ContentLine.Parameter] = []
        for parameter in property.parameters {
            switch parameter.name {
            case "ENCODING", "QUOTED-PRINTABLE": return nil
            // The text is UTF-8 by now, and its type is the property's own.
            case "CHARSET", "VALUE": continue
            default:
                if !kept.contains(where: { $0.name == parameter.name }) { kept.append(parameter) }
            }
        }
        return kept
    }
}

extension Event {
    mutating func setTextParameters(_ parameters: [ContentLine.Parameter], of name: String) {
        guard !parameters.isEmpty else { return }
        textParameters = textParameters ?? [:]
        textParameters?[name] = parameters
    }
}
