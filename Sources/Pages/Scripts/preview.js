// SPDX-License-Identifier: Apache-2.0
// Shows a title while it is typed; without this script it is shown after it is saved.

for (const place of document.querySelectorAll("[data-preview]")) {
  if (!(place instanceof HTMLElement)) continue;
  const input = document.querySelector(`[data-behaviour=preview] [name="${place.dataset.preview}"]`);
  const shown = place.querySelector("bdi");
  if (!(input instanceof HTMLInputElement) || !shown) continue;
  input.addEventListener("input", () => {
    shown.textContent = input.value.trim();
  });
}
