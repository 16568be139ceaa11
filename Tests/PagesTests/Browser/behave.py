# SPDX-License-Identifier: Apache-2.0
"""Tries what the scripts of the pages add, what is printed, and the pages without scripts.

    python behave.py FOLDER

FOLDER is what the tests of the pages write where PAGES_OUT names it. Ends with 1 when something does not behave.
"""

import base64
import functools
import http.server
import re
import sys
import tempfile
import threading
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, str(Path(__file__).parent))
import walk  # noqa: E402


def keys(driver, *all_keys):
    webdriver.ActionChains(driver).send_keys(*all_keys).perform()


def until(driver, what):
    return WebDriverWait(driver, 300).until(lambda _: what())


def with_scripts(driver, page):
    def address_is_copied():
        page("feed")
        driver.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        button = driver.find_element(By.CSS_SELECTOR, "[data-copy]")
        assert button.is_displayed(), "the button is hidden"
        button.click()
        until(driver, lambda: driver.execute_script("return document.querySelector('[data-copied]').textContent"))
        text = driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert text == driver.find_element(By.ID, "feed-url").get_attribute("value"), text

    def title_is_shown_as_it_is_typed():
        page("office")
        field = driver.find_element(By.NAME, "officeTitle")
        field.clear()
        field.send_keys("<b>Büro</b>")
        shown = driver.find_element(By.CSS_SELECTOR, "[data-preview=officeTitle] bdi")
        assert shown.text == "<b>Büro</b>", shown.text

    def file_is_named():
        page("import-start")
        with tempfile.NamedTemporaryFile(suffix=".ics") as file:
            driver.find_element(By.NAME, "file").send_keys(file.name)
            assert driver.find_element(By.CSS_SELECTOR, "[data-drop-name]").text == Path(file.name).name

    def file_can_be_dropped():
        page("check")
        driver.execute_script(
            "const data = new DataTransfer(); data.items.add(new File(['x'], 'dropped.ics'));"
            "document.querySelector('[data-drop]').dispatchEvent("
            "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))")
        assert driver.execute_script("return document.querySelector('[name=file]').files[0].name") == "dropped.ics"

    def progress_is_live():
        page("import-reading")
        until(driver, lambda: driver.execute_script("return document.querySelector('progress').value") == 40)

    def form_is_sent_once():
        page("apple")
        sent = driver.execute_script(
            "let sent = 0; addEventListener('submit', (event) => {"
            " if (!event.defaultPrevented) sent += 1; event.preventDefault(); });"
            "const form = document.querySelector('main form'); form.requestSubmit(); form.requestSubmit(); return sent")
        assert sent == 1, sent

    return [address_is_copied, title_is_shown_as_it_is_typed, file_is_named, file_can_be_dropped, progress_is_live,
            form_is_sent_once]


def without_scripts(driver, page):
    def question_is_part_of_the_page():
        page("feed-hidden")
        dialog = driver.find_element(By.ID, "revoke")
        assert dialog.is_displayed(), "the question is not open"
        assert dialog.find_element(By.CSS_SELECTOR, "button[type=submit]").is_enabled()
        assert not driver.find_element(By.ID, "regenerate").is_displayed()

    def buttons_that_need_a_script_are_hidden():
        page("feed")
        assert not driver.find_element(By.CSS_SELECTOR, "[data-copy]").is_displayed()

    def page_asks_for_itself_again():
        page("import-reading")
        found = driver.find_elements(By.CSS_SELECTOR, "meta[http-equiv=refresh]")
        assert [meta.get_attribute("content") for meta in found] == ["3"]

    def pictures_have_tables():
        page("feed")
        details = driver.find_element(By.CSS_SELECTOR, "details.behind")
        details.find_element(By.TAG_NAME, "summary").click()
        assert len(details.find_elements(By.CSS_SELECTOR, "tbody tr")) > 10

    return [question_is_part_of_the_page, buttons_that_need_a_script_are_hidden, page_asks_for_itself_again,
            pictures_have_tables]


def by_itself(driver, page):
    def what_is_wrong_has_the_focus():
        page("account")
        until(driver, lambda: driver.execute_script("return document.activeElement.id") == "problems")
        keys(driver, Keys.TAB, Keys.ENTER)
        until(driver, lambda: driver.execute_script("return location.hash") == "#account-timeZone")

    def month_and_week_are_one_sheet_each():
        for name in ("calendar-month", "calendar-week"):
            page(name)
            for landscape in (False, True):
                printed = driver.execute_cdp_cmd("Page.printToPDF", {
                    "landscape": landscape, "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True})
                sheets = len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))
                assert sheets == 1, f"{name}: {sheets} sheets, landscape: {landscape}"

    return [what_is_wrong_has_the_focus, month_and_week_are_one_sheet_each]


def main():
    folder = Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(walk.Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    faults = tried = 0
    for group, has_scripts in ((with_scripts, True), (by_itself, True), (without_scripts, False)):
        driver = walk.browser(dark=False)
        walk.resize(driver, 1024)
        if not has_scripts:
            driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        for attempt in group(driver, lambda name: driver.get(f"{root}/en/{name}.html")):
            tried += 1
            try:
                attempt()
            except Exception as error:  # Each attempt is reported, whatever stopped it.
                faults += 1
                print(f"{attempt.__name__}: {type(error).__name__}: {str(error)[:400]}", flush=True)
        driver.quit()
    server.shutdown()
    print(f"{tried} tried, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
