// SPDX-License-Identifier: Apache-2.0

import ProgramFiles

/// The files of this folder that are part of the program; a test compares the list with the folder.
enum PageFiles {
    static let style = ProgramFiles.bytes(of: "style.css")
    static let words = ProgramFiles.all(endingWith: ".words")
    /// The words of options, by their key, `@` and the language.
    static let options = WordFile(ProgramFiles.bytes(of: "options.texts")).texts
    static let scripts = ProgramFiles.all(endingWith: ".js")
    static let templates = ProgramFiles.all(endingWith: ".mustache")
}
