// SPDX-License-Identifier: Apache-2.0

/// The content of one cell of a table.
enum Cell {
    case text(String)
    /// A name that somebody else chose.
    case name(String)
    case number(Int)
    /// A number that is already formatted.
    case figure(String)
    case time(Node)
    case badge(Node)
    case sentence(Node)
    /// A sentence about a calendar file.
    case phrase(Node)
    case link(String, String)
    case acts([Node])
    case empty
}

extension RenderContext {
    /// - Parameters:
    /// - columns: the keys of the headings.
    /// - names: further headings, which are names.
    /// - isHidden: whether the caption is only for screen readers.
    func table(
        _ caption: String, _ columns: [String], _ rows: [[Cell]], names: [String] = [], isHidden: Bool = false
    ) -> Node {
        let labels = columns.map { words[$0] } + names
        return [
            "caption": .text(caption), "isHidden": .flag(isHidden),
            "columns": .list(
                labels.enumerated().map { index, label in
                    ["label": .text(label), "isNumber": .flag(rows.first.map { isNumber($0, index) } ?? false)]
                }),
            "rows": .list(
                rows.map { row in
                    [
                        "cells": .list(
                            row.enumerated().map {
                                cell($1, label: labels.indices.contains($0) ? labels[$0] : "", isFirst: $0 == 0)
                            })
                    ]
                }),
        ]
    }

    private func isNumber(_ row: [Cell], _ index: Int) -> Bool {
        guard row.indices.contains(index) else { return false }
        return switch row[index] {
        case .number, .figure: true
        default: false
        }
    }

    private func cell(_ cell: Cell, label: String, isFirst: Bool) -> Node {
        var node: [String: Node] = ["label": .text(label), "isFirst": .flag(isFirst)]
        switch cell {
        case .text(let text): node["text"] = .text(text)
        case .name(let text): node["name"] = .text(text)
        case .number(let value):
            node["text"] = .text(words.number(value))
            node["isNumber"] = true
        case .figure(let text):
            node["text"] = .text(text)
            node["isNumber"] = true
        case .time(let time): node["time"] = time
        case .badge(let badge): node["badge"] = badge
        case .sentence(let sentence): node["sentence"] = sentence
        case .phrase(let phrase): node["phrase"] = phrase
        case .link(let label, let path): node["link"] = ["href": .text(href(path)), "label": .text(label)]
        case .acts(let acts): node["acts"] = .list(acts)
        case .empty: break
        }
        return .map(node)
    }
}
