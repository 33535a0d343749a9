"""Report page in a headless Chromium: there are no errors, and keys, search and filters work."""

import os
import shutil
from pathlib import Path

import pytest

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.circuits.tasks import TASKS, TaskSpec
from lengthgen.paper_figs.report.looks import DARK_GROUND
from lengthgen.paper_figs.report.relations import Bounds, explore, pool_labels, unpooled
from tests.paper_figs.report.examples import FLIP, HOSTILE, claim, page_of, runs, trial

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    pytest.skip("no Chromium with its chromedriver on the path", allow_module_level=True)
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CLAIMS, RUNS = 500, 2000
OWN_BOUNDS = Bounds(largest=(4,), train=range(1, 3))
FORECAST = {"share": [0.12, 0.03, 0.3], "breaks_at": 7, "why": "comparable runs fail", "recorded": [1, 10]}
[CELL] = trial()["cells"]
FAILING = {"predicted": False, "observed": False, "verdict": "undecided (power)", "generalizes_given_fit": [1, 5, 0, 1]}
OWN_TRIAL = trial(
    name="flip",
    title="Encodings on 'flip'",
    own=True,
    cells=[CELL | {"task": "flip"}, CELL | FAILING | {"task": "flip", "encoding": "rpe", "forecast": FORECAST}],
)
"""Trial of a user's task: a cell without a forecast, and one with a forecast."""


def own_file(tmp_path_factory):
    """Write a user's file with the task `flip`."""
    path = tmp_path_factory.mktemp("own") / "my_task.py"
    path.write_text(FLIP)
    return path


PAINT_MS = 1000


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    relations, pool = pool_labels(
        [explore(TaskSpec(name="copy", format=form), Bounds()) for form in ("unaligned", "aligned")]
    )
    own = explore(TaskSpec(name=f"{own_file(tmp_path_factory)}:flip", format="aligned"), OWN_BOUNDS)
    relations, pool = pool_labels([own, *unpooled(relations, pool)])
    layout = (TASKS["copy"].__doc__ or "").partition("\n")[0]
    content = page_of(
        claims=[claim(0, statement=f"hostile {HOSTILE}"), *(claim(number) for number in range(1, CLAIMS))],
        runs_content=runs(RUNS, task=HOSTILE),
        relations=relations,
        pool=pool,
        tasks=[{"task": "flip", "layout": "", "file": "my_task.py:flip", "mine": True},
               {"task": "copy", "layout": layout, "base": 10, "reference_arity": 1},
               {"task": HOSTILE, "layout": HOSTILE, "base": None, "reference_arity": None}],
        trials=[OWN_TRIAL, trial(), trial(name=HOSTILE, title=HOSTILE)],
        unjudged=[(HOSTILE, HOSTILE)],
        broken={HOSTILE: HOSTILE},
        missing=1,
        missing_listed_by=HOSTILE,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(content)
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for switch in (
        "headless", "disable-gpu", "disable-background-networking", "disable-component-update", "disable-sync",
        "no-first-run", "window-size=1200,900", f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):  # fmt: skip
        options.add_argument(f"--{switch}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture
def open_in_browser(chromium, page):
    """Open a view in a new page; at the end check for console errors and for hostile text that ran."""

    def open_view(view=""):
        chromium.get("about:blank")
        chromium.get(page + view)
        return chromium

    yield open_view
    assert chromium.execute_script("return window.hostile") is None
    assert not chromium.find_elements(By.CSS_SELECTOR, "main img")
    assert chromium.get_log("browser") == []


def elements(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def first_element(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def active(driver):
    return driver.switch_to.active_element


def text(driver, selector):
    return first_element(driver, selector).text


PHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
PAINTS = "return performance.getEntriesByName('first-contentful-paint').map((paint) => paint.startTime)"
VIEWS = (
    "", "#claims/claim-7", "#tasks/copy", "#relations/copy", "#runs", "#verdicts", "#verdict", "#court", "#provenance",
    "#nonsense",
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_alone_without_an_error_and_is_no_wider_than_a_phone(open_in_browser, chromium, view):
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        driver = open_in_browser(view)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    shown = [section.get_attribute("id") for section in elements(driver, ".view") if section.is_displayed()]
    assert shown == [view[1:].partition("/")[0] if view not in ("", "#nonsense") else "overview"]
    assert first_element(driver, "nav a[aria-current]").get_attribute("hash") == f"#{shown[0]}"
    assert first_element(driver, "#unknown").is_displayed() is (view == "#nonsense")
    if view in ("", "#claims/claim-7", "#runs"):
        [first] = WebDriverWait(driver, 10).until(lambda it: it.execute_script(PAINTS))
        assert first < PAINT_MS


def test_search_and_filters_show_what_fits(open_in_browser):
    driver = open_in_browser("#claims")
    assert text(driver, "#claim-count") == f"{CLAIMS} of {CLAIMS} claims"
    assert len(elements(driver, "#claim-list details")) < CLAIMS
    assert text(driver, "#claim-list .group") == f"What the papers say ({CLAIMS // 2}): Paper 0 (arXiv 2400.00000)"
    first_element(driver, "#claim-search").send_keys("COUNTEREXAMPLE 123")
    assert text(driver, "#claim-count") == f"1 of {CLAIMS} claims"
    assert text(driver, "#claim-list .id").endswith("claim-123")
    first_element(driver, "#claim-search").clear()
    first_element(driver, "#claim-search").send_keys(" ")
    Select(first_element(driver, "#claim-verdict")).select_by_value("refuted")
    assert text(driver, "#claim-count") == f"{CLAIMS // 4} of {CLAIMS} claims"
    Select(first_element(driver, "#claim-paper")).select_by_value("2400.00002")
    expected = sum(number % 20 == 2 and number % 4 == 2 for number in range(CLAIMS))
    assert text(driver, "#claim-count") == f"{expected} of {CLAIMS} claims"
    Select(first_element(driver, "#claim-strength")).select_by_value("general")
    expected = sum(number % 20 == 2 and number % 4 == 2 and number % 3 == 0 for number in range(CLAIMS))
    assert text(driver, "#claim-count") == f"{expected} of {CLAIMS} claims"


def test_the_address_keeps_the_filters_and_says_what_the_page_does_not_have(open_in_browser):
    driver = open_in_browser("#claims?search=counterexample+12&verdict=refuted")
    count = text(driver, "#claim-count")
    assert count == f"{sum('12' in str(n)[:2] and n % 4 == 2 for n in range(CLAIMS))} of {CLAIMS} claims"
    first_element(driver, "#claim-search").clear()
    first_element(driver, "#claim-search").send_keys("123")
    assert driver.current_url.endswith("#claims?search=123&verdict=refuted")
    for view, missing in (("#claims/claim-9999", "claim-9999"), ("#claims?verdict=proved", "proved")):
        driver = open_in_browser(view)
        assert missing in text(driver, "#unknown")
        assert text(driver, "#claim-count") == f"{CLAIMS} of {CLAIMS} claims"


def test_the_overview_says_what_was_found(open_in_browser):
    driver = open_in_browser()
    overview = text(driver, "#found")
    assert f"{CLAIMS // 4} claims refuted" in overview and "2 of 2 observed cells as predicted" in overview
    first_element(driver, "#found a[href='#claims?verdict=refuted']").click()
    assert text(driver, "#claim-count") == f"{CLAIMS // 4} of {CLAIMS} claims"


def test_the_overview_begins_with_the_picture_and_the_forecasts_of_the_readers_cells(open_in_browser):
    driver = open_in_browser()
    assert text(driver, "#found h3") == "flip"
    [picture] = elements(driver, "#found > .smalls:nth-child(2) svg")
    assert picture.get_attribute("aria-label").startswith(
        "flip, padded: exact match by scale; median at scale 20: IPE 1,"
    )
    assert len(picture.find_elements(By.CSS_SELECTOR, ".curve")) == 2
    assert len(picture.find_elements(By.CSS_SELECTOR, ".seed")) == 10
    rows = elements(driver, "#found > .scroll:nth-of-type(2) tbody tr")
    assert [[cell.text for cell in row.find_elements(By.XPATH, "*")] for row in rows] == [
        ["flip", "IPE", "padded", "–", "5 of 5", "consistent"],
        ["flip", "RPE", "padded", "0.12 (0.03-0.30)", "1 of 5", "undecided (power)"],
    ]


def test_a_users_task_shows_its_forecast_its_runs_and_its_circuit(open_in_browser):
    driver = open_in_browser("#tasks")
    assert [element.text for element in elements(driver, "#task-list h3")] == ["In this folder", "Others"]
    assert "SRC 1 up to scale 4" in text(driver, "#task-list details")
    assert "x1 x2 x3" in text(driver, "#task-list details .said")
    driver = open_in_browser("#tasks/flip")
    opened = first_element(driver, "details[open]")
    assert "my_task.py:flip" in opened.text and "0.12 (0.03-0.30)" in opened.text
    pictures = [
        element.get_attribute("aria-label") for element in opened.find_elements(By.CSS_SELECTOR, "svg[role='img']")
    ]
    assert len(pictures) == 2 and pictures[1].startswith("A circuit of flip, aligned, at scale 3; step 1: y1")
    opened.find_element(By.LINK_TEXT, "Labels of each encoding for flip").click()
    assert Select(first_element(driver, "#relation-task")).first_selected_option.text == "flip"
    assert Select(first_element(driver, "#relation-encoding")).first_selected_option.text == "IPE"
    Select(first_element(driver, "#relation-encoding")).select_by_value("rpe")
    shown = text(driver, "#relation")
    assert "0.12 (0.03-0.30) of the fitting runs generalize; breaks at scale 7; on record: 1 of 10 runs" in shown
    assert "comparable runs fail" in shown


def test_an_opened_claim_shows_all_its_data(open_in_browser):
    driver = open_in_browser("#claims/claim-7")
    opened = first_element(driver, "details[open]")
    assert "fact 7" not in opened.text, "evidence folds"
    for folded in opened.find_elements(By.CSS_SELECTOR, ".body summary"):
        folded.click()
    for part in (
        "Statement 7",
        "fact 7",
        "an assumption",
        "turned around",
        "rejected: counterexample 7",
        "Theorem 7",
        "0.25",
    ):
        assert part in opened.text
    assert first_element(opened, "math mi").text == "α"
    assert first_element(opened, "a").get_attribute("href") == "https://arxiv.org/abs/2400.00007"
    assert active(driver).tag_name == "summary"


def test_a_claim_far_down_is_named_by_the_address(open_in_browser):
    driver = open_in_browser("#claims/claim-300")
    top = "return document.querySelector('details[open]').getBoundingClientRect().top"
    header = "return document.querySelector('header').getBoundingClientRect().bottom"
    assert 0 <= driver.execute_script(top) - driver.execute_script(header) < 100


def test_hostile_text_is_shown_as_text(open_in_browser):
    driver = open_in_browser("#claims")
    assert "<script>window.hostile = 1</script>" in text(driver, "#claim-list details")
    driver = open_in_browser("#tasks")
    assert "onerror=" in text(driver, "#task-list details:last-child")
    driver = open_in_browser("#runs")
    assert "</script>" in first_element(driver, "#run-choice option").get_attribute("textContent")


def test_the_page_is_used_with_keys_alone(open_in_browser):
    driver = open_in_browser()
    first_element(driver, "body").send_keys(Keys.TAB)
    assert active(driver).text == "Skip to the content"
    active(driver).send_keys(Keys.ENTER)
    assert active(driver).get_attribute("id") == "main"
    first_element(driver, "nav a[href='#claims']").send_keys(Keys.ENTER)
    WebDriverWait(driver, 5).until(lambda it: active(it).get_attribute("id") == "h-claims")
    order = []
    for _ in range(5):
        active(driver).send_keys(Keys.TAB)
        order.append(active(driver).get_attribute("id") or active(driver).tag_name)
    assert order == ["claim-search", "claim-paper", "claim-verdict", "claim-strength", "summary"]
    active(driver).send_keys(Keys.ENTER)
    assert len(elements(driver, "details[open]")) == 1
    first_element(driver, "nav a[href='#tasks']").send_keys(Keys.ENTER)
    WebDriverWait(driver, 5).until(lambda it: active(it).get_attribute("id") == "h-tasks")


def test_the_end_of_a_list_is_reached_by_its_button(open_in_browser):
    driver = open_in_browser("#claims")
    before = len(elements(driver, "#claim-list details"))
    driver.execute_script("document.querySelector('#claim-list .more').focus({preventScroll: true})")
    active(driver).send_keys(Keys.ENTER)
    assert len(elements(driver, "#claim-list details")) > before
    assert active(driver).tag_name == "summary"


def test_light_and_dark_follow_the_system_and_the_switch(open_in_browser):
    driver = open_in_browser()
    colour = "return getComputedStyle(document.body).backgroundColor"
    dark = f"rgb({', '.join(str(int(DARK_GROUND[at : at + 2], 16)) for at in (1, 3, 5))})"
    for system, theme, expected in (
        ("dark", "", True),
        ("light", "", False),
        ("light", "dark", True),
        ("dark", "light", False),
    ):
        features = [{"name": "prefers-color-scheme", "value": system}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        Select(first_element(driver, "#theme")).select_by_value(theme)
        assert (driver.execute_script(colour) == dark) is expected
    Select(first_element(driver, "#theme")).select_by_value("")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_explorer_shows_labels_prediction_and_circuit(open_in_browser, page):
    driver = open_in_browser("#relations/copy")
    Select(first_element(driver, "#relation-encoding")).select_by_value("rpe")
    Select(first_element(driver, "#relation-scale")).select_by_value("2")
    cells = elements(driver, ".matrix td[data-key]")
    assert {int(cell.text) for cell in cells} == set(
        range(max(int(cell.get_attribute("data-query")) for cell in cells))
    )
    assert all(int(c.text) == int(c.get_attribute("data-query")) - int(c.get_attribute("data-key")) for c in cells)
    its = explore(TaskSpec(name="copy"), Bounds())["encodings"]["rpe"]["prediction"]
    assert its["why"] in text(driver, "#relation")
    assert f"breaks at scale {its['breaks_at']}" in text(driver, "#relation")
    cells[0].click()
    driver.execute_script("arguments[0].focus()", cells[0])
    active(driver).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert text(driver, ".pair").startswith("Key 2 ") and "query 2 " in text(driver, ".pair")
    assert first_element(driver, "#relation svg[role='img']").get_attribute("aria-label").startswith("Circuit of copy")


def test_a_chart_is_read_with_keys_and_says_the_stored_numbers(open_in_browser):
    driver = open_in_browser("#runs")
    legend = elements(driver, "#run-panel .legend label")
    reader = first_element(driver, "#run-panel input[type='range']")
    reader.send_keys(Keys.END)
    assert reader.get_attribute("aria-valuetext") == "scale 20"
    rows = elements(driver, "#run-panel [role='status'] tbody tr")
    assert len(rows) == 6 < len(legend) == len(ENCODINGS)
    task = int(Select(first_element(driver, "#run-choice")).first_selected_option.text.partition(",")[0].split()[-1])
    cell = task * len(ENCODINGS) + [*ENCODINGS].index("ipe")
    solving = [(5 * cell + seed) % 2 for seed in range(5)]  # as `examples.runs` makes them
    values = ", ".join("1" if solves else "0.123" for solves in solving)
    assert rows[0].text.endswith(f"{sum(solving)} of 5 {values}")
    legend[0].find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
    assert len(elements(driver, "#run-panel [role='status'] tbody tr")) == 5
    for name, expected in (("All", len(legend)), ("None", 0)):
        first_element(driver, f"#run-panel button[data-all='{name}']").send_keys(Keys.ENTER)
        assert len(elements(driver, "#run-panel [role='status'] tbody tr")) == expected


def test_a_run_opens_to_its_curves_and_provenance(open_in_browser):
    driver = open_in_browser("#runs")
    assert text(driver, "#run-count") == f"{RUNS} of {RUNS} runs"
    first_element(driver, "#run-search").send_keys("run-1999")
    assert text(driver, "#run-count") == f"1 of {RUNS} runs"
    first_element(driver, "#run-list summary").click()
    opened = text(driver, "#run-list")
    assert "generalizes" in opened and "0" * 64 in opened and "torch 2" in opened
    assert len(elements(driver, "#run-list svg[role='img']")) == 2


def test_printing_shows_the_open_view_without_its_controls(open_in_browser):
    driver = open_in_browser("#claims/claim-7")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        hidden = [first_element(driver, selector) for selector in ("nav", ".theme", "#claims .filters")]
        assert not any(element.is_displayed() for element in hidden)
        assert first_element(driver, "details[open] .body").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_page_is_one_file(page):
    assert [path.name for path in Path(page.removeprefix("file://")).parent.iterdir()] == ["report.html"]
