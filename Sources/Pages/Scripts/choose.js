// SPDX-License-Identifier: Apache-2.0
// Counts the events left out of an import and marks them; without this script the server does so when the form is sent.

for (const form of document.querySelectorAll(".import-form")) {
  /** @type {HTMLInputElement[]} */
  const boxes = Array.from(form.querySelectorAll("input[name=exclude]"));
  const status = form.querySelector("[data-chosen]");
  /** @param {string} group */
  const members = (group) => boxes.filter((box) => box.dataset.group === group);

  const count = () => {
    if (!(status instanceof HTMLElement)) return;
    const { chosen = "", all = "0", elsewhere = "0" } = status.dataset;
    const left = boxes.filter((box) => box.checked).length + Number(elsewhere);
    const number = (/** @type {number} */ value) => value.toLocaleString(document.documentElement.lang);
    status.textContent = chosen.replace("{number}", number(Number(all) - left)).replace("{all}", number(Number(all)));
  };

  form.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement)) return;
    if (box.name === "same") for (const own of members(box.value)) own.checked = box.checked;
    const group = box.dataset.group;
    const whole = group && form.querySelector(`input[name=same][value="${group}"]`);
    if (group && whole instanceof HTMLInputElement) whole.checked = members(group).every((own) => own.checked);
    count();
  });
  count();
}
