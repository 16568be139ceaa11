// SPDX-License-Identifier: Apache-2.0

internal import Mustache

/// The templates, which are read once; all of them escape with `EscapedHTML`.
enum Templates {
    static func render(_ root: Node, with name: String) -> String {
        guard let text = library.render(root, withTemplate: name) else {
            preconditionFailure("There is no template \(name).")
        }
        return text
    }

    private static let library: MustacheLibrary = {
        MustacheContentTypes.register(EscapedHTML(), named: EscapedHTML.name)
        var library = MustacheLibrary()
        for (name, bytes) in PageFiles.templates {
            // A line break at the end of a file is not part of its page. A partial starts with the library's own
            // escaping, so each one has to select ours.
            let text =
                "{{% CONTENT_TYPE:\(EscapedHTML.name)}}"
                + String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self)
            do {
                try library.register(text, named: name)
            } catch {
                preconditionFailure("The template \(name) is wrong: \(error)")
            }
        }
        return library
    }()
}
