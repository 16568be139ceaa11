// SPDX-License-Identifier: Apache-2.0
// Opens a question in place; without this script the link leads to the page with the question open.

(() => {
  /** @type {HTMLElement | null} */
  let opener = null;

  /**
   * @param {Event} event
   * @param {HTMLElement} link
   */
  function ask(event, link) {
    const dialog = document.getElementById(link.dataset.dialog ?? "");
    if (!(dialog instanceof HTMLDialogElement)) return;
    event.preventDefault();
    dialog.close();
    opener = link;
    dialog.showModal();
  }

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const link = target?.closest("[data-dialog]");
    if (link instanceof HTMLElement) return ask(event, link);
    const close = target?.closest("[data-close]");
    const dialog = close?.closest("dialog");
    if (dialog instanceof HTMLDialogElement && dialog.matches(":modal")) {
      event.preventDefault();
      dialog.close();
    }
  });

  document.addEventListener("close", () => opener?.focus(), true);

  // Pressing a button twice sends only one request.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method === "get") return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "true";
    // What is downloaded leaves the page as it is.
    if (form.action.endsWith("/export")) setTimeout(() => form.removeAttribute("data-sent"), 2000);
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) form.removeAttribute("data-sent");
  });
})();
