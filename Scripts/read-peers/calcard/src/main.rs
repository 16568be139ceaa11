// SPDX-License-Identifier: Apache-2.0
//! Reads a calendar file with calcard on one thread and says how long that took. Usage: calcard_read FILE.ics [RUNS]
//!
//! `cp -r Scripts/read-peers/calcard .tools && cargo build --release --manifest-path .tools/calcard/Cargo.toml` builds it
//! outside of the sources, and `CALCARD_READ=.tools/calcard/target/release/calcard_read` lets the benchmark run it.

use calcard::icalendar::{ICalendarComponent, ICalendarComponentType, ICalendarProperty};
use calcard::{Entry, Parser};
use std::{env, error::Error, fs, iter, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("usage: calcard_read FILE.ics [RUNS]")?;
    let runs: usize = arguments.next().map_or(Ok(3), |runs| runs.parse())?;
    let text = fs::read_to_string(file)?;
    let mut count = 0;
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        let mut parser = Parser::new(&text);
        let entries: Vec<Entry> = iter::from_fn(|| Some(parser.entry()).filter(|entry| *entry != Entry::Eof)).collect();
        count = entries.iter().map(whole_events).sum();
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        // The values live until here, so that their release is outside of the measured time, as it is for Kalends.
        drop(entries);
    }
    times.sort_by(f64::total_cmp);
    let label = format!("calcard {}: {count} events with their starts", version());
    println!("{label:<58}{:.1} ms", times[times.len() / 2]);
    Ok(())
}

/// How many events have a start and a summary.
fn whole_events(entry: &Entry) -> usize {
    let Entry::ICalendar(calendar) = entry else { return 0 };
    calendar.components.iter().filter(|component| is_whole_event(component)).count()
}

/// The values were made by the parser, so that looking at them is all that is left.
fn is_whole_event(component: &ICalendarComponent) -> bool {
    let value = |name| component.property(&name)?.values.first();
    let start = value(ICalendarProperty::Dtstart).and_then(|value| value.as_partial_date_time());
    let summary = value(ICalendarProperty::Summary).and_then(|value| value.as_text());
    component.component_type == ICalendarComponentType::VEvent
        && start.is_some_and(|start| start.day.is_some())
        && summary.is_some_and(|summary| !summary.is_empty())
}

/// The version that cargo chose: the library does not export it.
fn version() -> &'static str {
    let chosen = include_str!("../Cargo.lock").split_once("name = \"calcard\"\nversion = \"");
    chosen.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("of an unknown version")
}
