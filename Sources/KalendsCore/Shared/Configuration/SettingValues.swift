// SPDX-License-Identifier: Apache-2.0

import Storage

/// The values given for the settings: by flag, otherwise by variable, otherwise as a credential, otherwise in the
/// settings file.
package struct SettingValues {
    package enum Source: String {
        case flag, variable, credential, file
    }

    /// One sentence for each fault; none contains a value, which may be a secret.
    private(set) var faults: [String] = []
    private let given: [String: (text: String, source: Source)]
    private let file: String?

    /// - Parameter flags: what was given on the command line, by setting name.
    package init(flags: [String: String], configFile: String?, environment: [String: String]) {
        file = configFile ?? environment[Setting.fileVariable]
        let variables = Self.variables(environment, &faults)
        let credentials = SettingCredentials.read(environment, &faults)
        var found: [String: String] = [:]
        if let file {
            do throws(SettingsFile.Failure) {
                let document = try SettingsFile(path: file)
                found = document.values
                faults += document.faults
            } catch {
                faults.append(error.description)
            }
        }
        var given: [String: (text: String, source: Source)] = [:]
        // If a setting has several values, the last one in this order counts.
        for (source, values) in [
            (Source.file, found), (.credential, credentials), (.variable, variables), (.flag, flags),
        ] {
            for (name, text) in values { given[name] = (text, source) }
        }
        self.given = given
    }

    package func source(of setting: Setting) -> Source? { given[setting.name]?.source }

    package func text(_ setting: Setting) -> String? { given[setting.name]?.text }

    /// Returns a given value for people to read: without secrets, and without the password in an address.
    package func shown(_ setting: Setting) -> String? {
        guard let text = text(setting) else { return nil }
        if setting == .database { return DatabasePlace.shown(text) }
        return setting.isSecret ? "(set)" : text
    }

    /// Returns the text of a setting that must not be empty if it is given.
    mutating func filled(_ setting: Setting) -> String? {
        guard let text = text(setting) else { return nil }
        if text.isEmpty { note(setting, "must not be empty: leave it out.") }
        return text.isEmpty ? nil : text
    }

    /// Returns the origins of a list, as browsers write them.
    mutating func origins(_ setting: Setting) -> [String] {
        let given = text(setting)?.pieces(separatedBy: ",").map(\.withoutBlanks).filter { !$0.isEmpty } ?? []
        let origins = given.compactMap { WebOrigin($0)?.text }
        if origins.count < given.count {
            note(setting, "must be origins such as https://app.example, separated by commas.")
        }
        return origins
    }

    mutating func number(_ setting: Setting, _ standard: Int) -> Int { number(setting) ?? standard }

    mutating func number(_ setting: Setting) -> Int? {
        guard case .number(let range) = setting.kind, let text = text(setting) else { return nil }
        if let number = Int(text), range.contains(number) { return number }
        var rule = "must be a whole number from \(range.lowerBound) to \(range.upperBound)."
        if setting == .port, text.hasPrefix("tcp://") {
            rule += " Kubernetes sets it for a service of this name: turn that off with enableServiceLinks: false."
        }
        note(setting, rule)
        return nil
    }

    mutating func bool(_ setting: Setting) -> Bool {
        switch text(setting)?.lowercased() {
        case nil, "false", "0", "no": return false
        case "true", "1", "yes": return true
        default:
            note(setting, "must be true or false.")
            return false
        }
    }

    mutating func choice(_ setting: Setting) -> String? {
        guard case .choice(let known) = setting.kind, let text = text(setting) else { return nil }
        if known.contains(text) { return text }
        note(setting, "must be one of \(known.joined(separator: ", ")).")
        return nil
    }

    /// Returns the secret in a file that a setting names, so that no argument shows it.
    mutating func secret(inFileOf setting: Setting, beside other: Setting) -> String? {
        guard let path = filled(setting) else { return nil }
        if text(other) != nil { note(setting, "and \(other.name) must not be given together.") }
        do {
            let text = try secretText(inFile: path)
            if text == nil { note(setting, "names \(path), which does not hold text in UTF-8.") }
            return text
        } catch {
            note(setting, "names a file that cannot be used: \(publicText(error))")
            return nil
        }
    }

    /// Notes what is wrong with a setting, under the name by which it was given.
    mutating func note(_ setting: Setting, _ rule: String) {
        let fault = "\(name(of: setting)) \(rule)"
        if !faults.contains(fault) { faults.append(fault) }
    }

    /// Returns the name by which a setting was given.
    package func name(of setting: Setting) -> String {
        switch source(of: setting) {
        case .flag: "--\(setting.flag)"
        case .variable: setting.variable
        case .credential: "The credential \(SettingCredentials.prefix)\(setting.name)"
        case .file, nil: setting.name
        }
    }

    /// Returns the settings among the environment variables; any other variable with their prefix is a fault, because
    /// the mistake would otherwise go unnoticed.
    private static func variables(_ environment: [String: String], _ faults: inout [String]) -> [String: String] {
        let known = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.variable, $0.name) })
        var values: [String: String] = [:]
        for (variable, value) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(Setting.variablePrefix) && variable != Setting.fileVariable {
            if let name = known[variable] {
                values[name] = value
            } else {
                faults.append(unknown(printable(variable), among: known.keys.sorted() + [Setting.fileVariable]))
            }
        }
        for (variable, setting) in Setting.otherVariables where values[setting.name] == nil {
            if let value = environment[variable], !value.isEmpty { values[setting.name] = value }
        }
        return values
    }

    /// Returns the sentence about a name that is not the name of a setting.
    static func unknown(_ name: String, among known: [String]) -> String {
        let nearest = NearestName.of(name, among: known).map { "; did you mean \($0)?" } ?? "."
        return "\(name) is not a setting\(nearest) `kalends settings` lists them all."
    }
}
