// SPDX-License-Identifier: Apache-2.0
// Accepts a file that is dropped; without this script the file is chosen with the form's field.

for (const zone of document.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector("input[type=file]");
  const name = zone.querySelector("[data-drop-name]");
  if (!(input instanceof HTMLInputElement)) continue;

  const show = () => {
    const file = input.files?.[0];
    if (name) name.textContent = file ? file.name : "";
  };
  input.addEventListener("change", show);

  /** @param {Event} event */
  const over = (event) => {
    event.preventDefault();
    zone.classList.add("over");
  };
  zone.addEventListener("dragenter", over);
  zone.addEventListener("dragover", over);
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    if (!(event instanceof DragEvent) || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    zone.classList.remove("over");
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    input.files = one.files;
    show();
  });
}
