// SPDX-License-Identifier: Apache-2.0
// Shows the progress of work; without this script the page reloads every few seconds.

/** @typedef {{progress: number | null, text: string, done: boolean}} Progress */

for (const box of document.querySelectorAll("[data-progress]")) {
  if (!(box instanceof HTMLElement)) continue;
  const bar = box.querySelector("progress");
  const text = box.querySelector("[data-progress-text]");
  let wait = 500;

  const look = async () => {
    try {
      const answer = await fetch(box.dataset.progress ?? "", { headers: { Accept: "application/json" } });
      if (answer.ok) {
        /** @type {Progress} */
        const state = await answer.json();
        if (state.done) return location.reload();
        if (bar && state.progress !== null) bar.value = Math.round(state.progress * 100);
        if (text) text.textContent = state.text;
        wait = 500;
      } else if (answer.status === 401 || answer.status === 404) {
        return location.reload();
      } else {
        throw new Error(answer.statusText);
      }
    } catch {
      // The network may be offline, or the server busy; the next requests follow at increasing intervals.
      wait = Math.min(wait * 2, 30_000);
    }
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
}
