// SPDX-License-Identifier: Apache-2.0

/// Selects the parameters that stay with a text.
enum TextParameters {
    /// The parameters that describe more than how the value is encoded; nil when the value has an encoding of vCalendar
    /// 1.0.
    static func kept(of property: Property) -> [ContentLine.Parameter]? {
        var kept: [ContentLine.Parameter] = []
        for parameter in property.parameters {
            switch parameter.name {
            case "ENCODING", "QUOTED-PRINTABLE": return nil
            // The text has been converted to UTF-8, and its type is the property's default.
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
