// SPDX-License-Identifier: Apache-2.0

import Mustache

extension DocumentationPage {
    /// The page's template, which escapes every inserted value.
    static let template: MustacheTemplate = {
        do {
            return try MustacheTemplate(string: text)
        } catch {
            preconditionFailure("The page's own template is wrong: \(error)")
        }
    }()

    private static let text = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Kalends API</title>
        <style>
        :root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #0a6e6e; }
        @media (prefers-color-scheme: dark) { :root { --accent: #5cc9c9; } }
        * { box-sizing: border-box; }
        body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 5rem; }
        h1 { margin: 0 0 .25rem; } h2 { margin: 3rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--line); }
        nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1.25rem 0; }
        a { color: var(--accent); }
        code, pre { font: .875em/1.45 ui-monospace, monospace; }
        pre { background: var(--soft); padding: .6rem .8rem; border-radius: .4rem; white-space: pre-wrap;
              overflow-wrap: anywhere; }
        details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: 0 .9rem; }
        summary { cursor: pointer; padding: .55rem 0; overflow-wrap: anywhere; }
        summary b { display: inline-block; min-width: 4.2rem; color: var(--accent); font: 600 .8rem ui-monospace,
              monospace; }
        summary span { opacity: .75; } summary span::before { content: " — "; }
        table { border-collapse: collapse; width: 100%; margin: .25rem 0 1rem; }
        td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid
              var(--line); overflow-wrap: anywhere; }
        th { font-weight: 600; }
        .soft { opacity: .75; }
        </style>
        </head>
        <body>
        <h1>Kalends API</h1>
        <p class="soft">Version {{version}} · the same as a document for programs:
        <a href="/openapi.json">openapi.json</a></p>
        <p>Every call but those to a feed carries <code>Authorization: Bearer …</code>: a service key, a user's token or
        a session. Bodies are JSON in UTF-8; errors are problem documents that name every fault at once.</p>
        <pre>curl -X PUT https://…/v1/circles/millers -H "Authorization: Bearer $KEY" \\
             -H "Content-Type: application/json" -d '{"name": "The Millers", "timeZone": "America/Los_Angeles"}'</pre>
        <nav>{{#sections}}<a href="#{{anchor}}">{{name}}</a>{{/sections}}<a href="#schemas">Schemas</a></nav>
        {{#sections}}
        <h2 id="{{anchor}}">{{name}}</h2>
        <p class="soft">{{about}}</p>
        {{#routes}}
        <details id="{{id}}">
        <summary><b>{{method}}</b> <code>{{path}}</code><span>{{summary}}</span></summary>
        {{#details}}<p>{{.}}</p>{{/details}}
        <p class="soft">For: {{access}}.</p>
        <table>
        {{#parameters}}<tr><td><code>{{name}}</code></td><td>{{place}}</td><td>{{type}}</td><td>{{about}}</td></tr>{{/parameters}}
        {{#bodies}}<tr><th>Body</th><td>{{type}}</td><td colspan="2">{{schema}}{{#link}}<a href="#schema-{{.}}">{{.}}</a>{{/link}}</td></tr>{{/bodies}}
        {{#replies}}<tr><th>{{status}}</th><td colspan="2">{{text}}</td><td>{{schema}}{{#link}}<a href="#schema-{{.}}">{{.}}</a>{{/link}}</td></tr>{{/replies}}
        {{#refusals}}<tr><th>Refusals</th><td colspan="3">{{.}}</td></tr>{{/refusals}}
        </table>
        </details>
        {{/routes}}
        {{/sections}}
        <h2 id="schemas">Schemas</h2>
        {{#schemas}}
        <details>
        <summary><code>{{name}}</code>{{#about}}<span>{{.}}</span>{{/about}}</summary>
        <table id="schema-{{name}}">
        {{#fields}}<tr><td><code>{{name}}</code>{{^isRequired}} <span class="soft">optional</span>{{/isRequired}}</td><td>{{type}}</td><td>{{about}}</td></tr>{{/fields}}
        </table>
        {{#example}}<pre>{{.}}</pre>{{/example}}
        </details>
        {{/schemas}}
        </body>
        </html>
        """
}
