// SPDX-License-Identifier: Apache-2.0
// Copies an address; without this script the field can be selected and copied.

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy ?? "");
    if (!(field instanceof HTMLInputElement)) return;
    field.select();
    await navigator.clipboard.writeText(field.value);
    const word = document.querySelector("[data-copied]");
    if (word instanceof HTMLElement) word.textContent = word.dataset.copied ?? "";
    button.textContent = "✓ " + (button.dataset.word ??= button.textContent ?? "");
  });
}
