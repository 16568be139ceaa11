# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of a kalends program: a page for each command from what the program says about itself
(--experimental-dump-help), and kalends.conf(5) from its list of settings (settings --json).

    python3 -B Packaging/manual.py PROGRAM FOLDER
"""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

SECTIONS = {"serve": 8}
SETTINGS = Path("/etc/kalends/kalends.conf")


def run(program, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KALENDS_")}
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, env=environment).stdout


def safe(text):
    """Text that mdoc takes as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("“", "\\(lq").replace("”", "\\(rq").replace("…", "...")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def paragraphs(text):
    """Text in lines of their own length, a blank line being a new paragraph."""
    def lines(part):
        # Each sentence begins a line, as mdoc wants it.
        for sentence in re.split(r"(?<=[.!?]) (?=\S)", " ".join(part.split())):
            yield from textwrap.wrap(sentence, 100, break_long_words=False, break_on_hyphens=False)

    parts = [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    return "\n.Pp\n".join(safe("\n".join(lines(part))) for part in parts)


def page(title, section, date, body):
    return f".\\\" Made by Packaging/manual.py.\n.Dd {date}\n.Dt {title.upper()} {section}\n.Os Kalends\n{body}"


def name(argument):
    """How an argument is given, as mdoc."""
    value = argument.get("valueName", "value")
    forms = []
    for form in argument.get("names") or []:
        if form["kind"] == "long":
            forms.append(f"Fl \\-{safe(form['name'])}")
        else:
            forms.append(f"Fl {safe(form['name'])}")
    if argument["kind"] == "positional":
        return f"Ar {safe(value)}"
    text = " , ".join(forms)
    return text + (f" Ar {safe(value)}" if argument["kind"] == "option" else "")


def shown(command):
    return [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]


def synopsis(words, command):
    lines = [".Nm " + " ".join(words)]
    optional = [argument for argument in shown(command) if argument["kind"] != "positional" and argument["isOptional"]]
    if optional:
        lines.append(".Op Ar options")
    for argument in shown(command):
        if argument in optional:
            continue
        text = name(argument)
        if argument.get("isRepeating"):
            text += " Ar ..."
        lines.append(f".Op {text}" if argument["isOptional"] else f".{text}")
    if command.get("subcommands"):
        lines.append(".Ar command")
    return "\n".join(lines)


def options(command):
    text, section = "", None
    for argument in shown(command):
        title = argument.get("sectionTitle") or "Options"
        if title != section:
            text += (".El\n" if section else "") + f".Ss {safe(title)}\n.Bl -tag -width indent\n"
            section = title
        about = argument.get("abstract") or argument.get("discussion") or ""
        if argument.get("defaultValue") is not None:
            about += f" (default: {argument['defaultValue']})"
        text += f".It {name(argument)}\n{paragraphs(about)}\n" if about else f".It {name(argument)}\n"
    return text + (".El\n" if section else "")


def visible(command):
    return [one for one in command.get("subcommands", []) if one.get("shouldDisplay", True)
            and one["commandName"] != "help"]


def section_of(words):
    return SECTIONS.get("-".join(words[1:]), 1)


def command_page(words, command, date):
    title, section = "-".join(words), section_of(words)
    body = f".Sh NAME\n.Nm {title}\n.Nd {safe((command.get('abstract') or title).rstrip('.'))}\n"
    body += f".Sh SYNOPSIS\n{synopsis(words, command)}\n"
    body += f".Sh DESCRIPTION\n{paragraphs(command.get('discussion') or command.get('abstract') or title)}\n"
    if visible(command):
        body += ".Ss Commands\n.Bl -tag -width indent\n"
        for one in visible(command):
            below = words + [one["commandName"]]
            body += f".It Xr {'-'.join(below)} {section_of(below)}\n{paragraphs(one.get('abstract') or '')}\n"
        body += ".El\n"
    body += options(command)
    body += (
        ".Sh FILES\n.Bl -tag -width indent\n.It Pa " + str(SETTINGS) + "\nThe settings of the installation; see\n"
        ".Xr kalends.conf 5 .\n.El\n.Sh EXIT STATUS\n"
        "0 done, 1 the input has faults, 2 wrong use, 3 failed.\n.Sh SEE ALSO\n")
    body += ".Xr kalends.conf 5\n" if len(words) == 1 else ".Xr kalends 1 ,\n.Xr kalends.conf 5\n"
    return page(title, section, date, body)


def settings_page(settings, date):
    body = (
        ".Sh NAME\n.Nm kalends.conf\n.Nd settings of the Kalends calendar server\n.Sh DESCRIPTION\n"
        "A line is\n.Ar name No = Ar value ,\nwithout quotation marks; a line that begins with # is a comment.\nA file "
        "that begins with a brace is read\nas a JSON object under the same names.\nA flag of\n.Xr kalends\\-serve 8\n"
        "overrides a variable, and a variable overrides the file.\nA name that is not a setting is refused at the start.\n"
        ".Sh SETTINGS\n.Bl -tag -width indent\n")
    for setting in settings:
        flag = f", {safe(setting['flag'])}" if setting.get("flag") else ""
        body += f".It Ic {safe(setting['name'])}\n{paragraphs(setting['about'])}\n.br\n"
        body += f"{safe(setting['variable'])}{flag}; default: {safe(setting['default'])}.\n"
    body += ".El\n.Sh SEE ALSO\n.Xr kalends 1 ,\n.Xr kalends\\-serve 8\n"
    return page("kalends.conf", 5, date, body)


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = subprocess.run(
        ["date", "-u", "+%B %-d, %Y"] + (["-d", f"@{epoch}"] if epoch else []), capture_output=True, text=True,
        check=True, env={**os.environ, "LC_ALL": "C"}).stdout.strip()
    help = json.loads(run(program, "--experimental-dump-help"))

    def write(words, command):
        path = folder / f"{'-'.join(words)}.{section_of(words)}"
        path.write_text(command_page(words, command, date))
        for one in visible(command):
            write(words + [one["commandName"]], one)

    write([help["command"]["commandName"]], help["command"])
    settings = [json.loads(line) for line in run(program, "settings", "--json").splitlines()]
    (folder / "kalends.conf.5").write_text(settings_page(settings, date))


main()
