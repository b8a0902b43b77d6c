"""The page as a person uses it: Debian's Chromium, driven by keys and clicks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bayesift._web.listening import make_server
from bayesift.review.engine import Corpus
from bayesift.review.projects import Projects
from bayesift.review.service import Service
from bayesift.review.storage import Document, Project
from bayesift.review.web import Settings
from bayesift.review.web.projects import Secrets, create_home
from web_cases import in_thread

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
DESKTOP = {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 780}


@pytest.fixture(scope="module")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory, documents, serve_once):
    """A project without a topic, served; and links to log in."""
    copies = [Document(f"x{n}", f"Note {n}", f"The port waits for ship number {n}.") for n in range(6)]
    project = Project.create(tmp_path_factory.mktemp("site") / "project.sqlite", "News", [*documents, *copies])
    service = Service(project, Corpus.build(project.documents.texts()))
    with serve_once(service) as address:

        def link(name):
            reviewers = project.reviewers
            # A new token would log the same person's other pages out.
            token = reviewers.issue_link(reviewers.named(name) or reviewers.add(name))
            return f"{address}/login#{token}"

        link("Anna")
        yield link, service
    service.close()
    project.close()


@pytest.fixture
def open_page(chromium, site):
    """Log somebody in, in a browser context of its own; fail if the page complains about anything."""
    link, _ = site
    contexts, complaints = [], []

    def opened(name, size=DESKTOP, **options):
        context = chromium.new_context(viewport=size, **options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(link(name))
        page.wait_for_selector("text=/Topics|Themen/")
        assert "#" not in page.url
        return page

    yield opened
    for context in contexts:
        context.close()
    # The browser itself notes the answer that one of the tests makes up.
    assert [said for said in complaints if "507" not in said] == []


def card(page):
    return int(page.get_attribute("#card .card", "data-document"))


def press(page, key):
    """Press a key and wait until the next card is there."""
    with page.expect_response(lambda answer: "/api/topics/" in answer.url and answer.request.method == "POST"):
        page.keyboard.press(key)
    page.wait_for_selector("#review:not([aria-busy])")


def follow(page, selector):
    """Click on what leads to another page, and wait until that has come with its scripts, which listen to keys."""
    with page.expect_navigation():
        page.click(selector)


@pytest.fixture
def topic(open_page, site):
    """A topic that is made with the form; the page lies open at its first card."""
    page = open_page("Anna")
    follow(page, "text=New topic")
    page.fill("#name", f"metals {len(site[1].project.topics.all())}")
    page.fill("#description", "Prices of metals")
    page.fill("#keywords_for", "tin, copper")
    page.fill("#keywords_against", "ship")
    follow(page, "text=Start reading")
    return page


def test_a_topic_is_made_and_read_by_keys_alone(topic, tmp_path):
    page = topic
    assert page.inner_text("#card-title") in ("Copper rises", "Tin falls in London")
    assert page.locator("mark.for").count() > 0
    first = card(page)
    press(page, "r")
    assert page.inner_text("#message") == "Saved as relevant."
    assert page.evaluate("document.activeElement.id") == "card-title"
    second = card(page)
    press(page, "i")
    press(page, "u")
    press(page, "s")
    assert page.inner_text("#counts").startswith("3 of 12 read · 1 relevant")
    for _ in range(3):
        press(page, "z")
    assert (card(page), page.inner_text("#message")) == (second, "Undone: irrelevant.")
    page.reload()
    assert card(page) == second
    press(page, "z")
    assert card(page) == first
    press(page, "z")
    assert page.inner_text("#message") == "There is nothing to undo."
    page.keyboard.press("?")
    page.wait_for_selector("#help-dialog[open]")
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    assert page.inner_text("#counts").startswith("0 of 12 read")
    # Keys with Ctrl belong to the browser, and holding a key down decides one card only.
    page.keyboard.press("Control+i")
    page.keyboard.down("r")
    page.keyboard.down("r")
    page.keyboard.down("r")
    page.keyboard.up("r")
    page.wait_for_selector("#message:has-text('Saved as relevant.')")
    assert page.inner_text("#counts").startswith("1 of 12 read")


def test_two_reviewers_work_at_once_and_the_message_to_stop_comes(topic, open_page):
    page, other = topic, open_page("Ben")
    other.goto(page.url)
    assert card(other) != card(page)
    for _ in range(6):
        press(page, "r" if card(page) in (0, 3) else "i")
        press(other, "r" if card(other) in (0, 3) else "i")
    page.reload()
    page.wait_for_selector("text=Nothing is left to read")
    page.wait_for_selector("[data-verdict='may stop']")
    assert "You may stop" in page.inner_text("#sentence")
    assert page.is_disabled("[data-decision=relevant]")
    page.click("nav >> text=Progress")
    assert "You may stop" in page.inner_text(".verdict")
    assert page.locator("svg.plot").count() == 3
    other.goto(page.url.replace("progress", "documents/0"))
    other.click("button:has-text('Irrelevant')")
    other.wait_for_selector("text=Resolve it")
    page.click("nav >> text=Agreement")
    page.click("text=It is relevant")
    page.wait_for_selector("text=There are none.")


def test_the_result_is_exported(topic):
    page = topic
    press(page, "r")
    page.click("nav >> text=Files")
    with page.expect_download() as download:
        page.click("[aria-label='Decided documents: CSV']")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].startswith("id,title,text,probability,decision")
    assert len(lines) == 2
    page.set_input_files("#file", {"name": "x.csv", "mimeType": "text/csv", "buffer": b"id,label\nb,0\nzz,1\n"})
    page.click("main >> text=Import >> nth=-1")
    page.wait_for_selector("text=Decisions imported: 1. Without a decision: 0. About other documents: 1.")


def test_people_are_added_changed_and_removed_without_scripts(open_page, site):
    page = open_page("Anna")
    plain = page.context.browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state())
    quiet = plain.new_page()
    quiet.set_default_timeout(60_000)
    quiet.goto(page.url + "reviewers")
    quiet.fill("#name", "Dora")
    quiet.select_option("#role", "reader")
    quiet.click("text=Create a link")
    token = quiet.inner_text("#link")
    person = site[1].project.reviewers.by_token(token)
    assert (person.name, person.role) == ("Dora", "reader")
    quiet.click("[aria-label='Change Dora']")
    quiet.select_option(f"#role-{person.id}", "reviewer")
    quiet.click("details[open] >> text=Save the role")
    quiet.wait_for_selector("li:has-text('Dora') .status:has-text('reviewer')")
    quiet.click("[aria-label='Change Dora']")
    quiet.click("text=Remove Dora")
    quiet.wait_for_selector("text=Removed; their decisions stay: Dora.")
    quiet.click("nav >> text=Audit log")
    assert "reviewer removed" in quiet.inner_text("tbody tr >> nth=0")
    quiet.click("nav >> text=Sessions")
    assert quiet.locator("text=this one").count() == 1
    quiet.click("li:has-text('this one') button")
    quiet.wait_for_selector("#token")
    plain.close()


def test_a_document_full_of_script_does_nothing(topic):
    page = topic
    page.goto(page.url + "/browse?q=script")
    page.click("ol a")
    page.wait_for_selector("#card-title")
    assert page.inner_text("#card-title") == "<script>alert(1)</script>"
    assert "owned" not in page.title()


def test_when_saving_fails_the_card_stays_and_says_so(topic):
    page = topic
    before = card(page)
    page.route("**/labels", lambda route: route.fulfill(status=507, json={"detail": "This could not be saved."}))
    page.click("[data-decision=relevant]")
    page.wait_for_selector(".message.failed")
    assert "This could not be saved. Nothing was changed; try again." in page.inner_text("#message")
    assert card(page) == before
    page.unroute("**/labels")
    press(page, "r")
    assert card(page) != before


def test_a_check_at_random_is_offered_and_ended(topic):
    page = topic
    told = {"verdict": "not enough evidence", "sentence": "Not enough evidence yet.", "check": 9, "checking": False}
    page.route("**/stopping", lambda route: route.fulfill(json=told))
    page.reload()
    page.click("#check:has-text('Draw them now')")
    page.wait_for_selector("#sentence:has-text('All cards are drawn at random now.')")
    page.unroute("**/stopping")
    press(page, "i")
    assert page.inner_text(".why") == "Drawn at random, to keep the estimates honest"
    page.click("#check:has-text('Back to the usual cards')")
    page.wait_for_selector("#check", state="hidden")


def test_reasons_tags_notes_full_texts_and_the_report_by_keys(topic, site, open_page):
    page = topic
    page.goto(page.url + "/settings")
    page.fill("#inclusion", "Prices of metals")
    page.fill("#reasons", "wrong subject\nno price")
    page.fill("#tags", "London\nstrike")
    page.check("input[name=full_text]")
    follow(page, "button:has-text('Save')")
    page.wait_for_selector(".criteria:has-text('Prices of metals')")
    first = card(page)
    with page.expect_response("**/remarks"):
        page.keyboard.press("Shift+Digit2")
    page.keyboard.press("n")
    page.keyboard.type("relevant in 1987")
    page.keyboard.press("Escape")
    press(page, "r")
    assert page.inner_text("#counts").startswith("1 of 12 read · 1 relevant")
    second = card(page)
    press(page, "2")
    assert page.inner_text("#message") == "Saved as irrelevant. no price"
    remark = site[1].project.remarks.of(int(page.get_attribute("#review", "data-topic")), first)[1]
    assert remark == ("relevant in 1987", ("strike",))
    base = page.url
    page.goto(f"{base}/documents/{second}")
    assert "irrelevant: no price" in page.inner_text("table")
    follow(page, "nav >> text=Full text")
    assert (card(page), page.input_value("#note")) == (first, "relevant in 1987")
    press(page, "3")
    assert page.inner_text("#message") == "Saved as irrelevant. report not retrieved"
    press(page, "z")
    press(page, "r")
    page.wait_for_selector("text=Nothing is left to read")
    follow(page, "nav >> text=Report")
    assert "Records included: n = 1" in page.inner_text(".prisma")
    page.fill("#note", "enough")
    page.click("text=Stop the review here")
    page.wait_for_selector("text=Resume the review")
    phone = open_page("Ben", PHONE, has_touch=True)
    phone.goto(base)
    before, places = card(phone), boxes(phone)
    swipe(phone, 300, 60)
    phone.wait_for_selector("#message:has-text('Saved as irrelevant.')")
    # The buttons stay where they are, whatever the card.
    assert (card(phone) != before, boxes(phone)) == (True, places)
    page.select_option("#language", "de")
    page.select_option("#theme", "dark")
    follow(page, ".bottom button")
    page.wait_for_selector("h1:has-text('Bericht')")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 25, 28)"
    page.goto(base)
    press(page, "i")
    assert page.inner_text("#message") == "Als irrelevant gespeichert."


def boxes(page):
    return [button.bounding_box() for button in page.locator(".deciding button").all()]


def swipe(page, start, end):
    """Draw a finger across the card."""
    touch = page.context.new_cdp_session(page)
    steps = [("touchStart", start), *(("touchMove", start + (end - start) * k / 4) for k in (1, 2, 3, 4))]
    for kind, x in steps:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": 320}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


PATHS = ["", "/progress", "/browse", "/agreement", "/data", "/settings", "/documents/4", "/report"]
PEOPLE = ["/reviewers", "/sessions", "/audit", "/duplicates"]


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_pages_fit_on_a_phone(topic, open_page, locale):
    """In German words are longer."""
    page = open_page("Anna", PHONE, has_touch=True, locale=locale)
    home = topic.url.rpartition("/topics")[0]
    for path in (*(topic.url + path for path in PATHS), *(home + path for path in PEOPLE)):
        page.goto(path)
        for summary in page.locator(".people summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        # Nothing of a table is out of sight; the diagram is no table, and is moved to the side by a finger.
        wide = page.evaluate(
            "[...document.querySelectorAll('.statements, .how table, .files')].map(e => e.scrollWidth)"
        )
        assert max(wide, default=0) <= PHONE["width"], path


def test_the_longest_probability_is_beside_a_title_and_not_on_it(topic, open_page):
    for size in (DESKTOP, PHONE):
        page = open_page("Anna", size)
        page.goto(topic.url + "/browse")
        score = page.locator(".score").first
        score.evaluate("e => e.textContent = '>\\u00a099\\u00a0%'")
        assert score.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_a_thumb_reaches_the_buttons_of_a_phone(topic, open_page):
    page = open_page("Anna", PHONE, has_touch=True)
    page.goto(topic.url)
    for name in ("Relevant", "Irrelevant", "Unsure", "Skip", "Undo"):
        box = page.locator(".actions").get_by_role("button", name=name, exact=True).bounding_box()
        # Large enough for a thumb, and within reach.
        assert box["height"] >= 44, name
        assert box["y"] > PHONE["height"] / 2
    before = card(page)
    page.tap("[data-decision=relevant]")
    page.wait_for_selector(f"#card .card:not([data-document='{before}'])")


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The rules of axe-core, from npm; never kept."""
    given = os.environ.get("BAYESIFT_AXE")
    if given:
        return Path(given).read_text()
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, which brings axe-core: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    # What npm has fetched before it need not ask for; by default it waits a minute before it tries again.
    patience = ["--prefer-offline", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"]
    options = ["--no-audit", "--no-fund", "--ignore-scripts", *patience]
    command = [npm, "install", *options, "--prefix", str(folder), "axe-core@4"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"axe-core could not be installed from npm: {error}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


#: What axe is asked for: everything, and again in the dark what colours decide.
RULES = {"light": "{resultTypes: ['violations']}", "dark": "{runOnly: ['color-contrast', 'link-in-text-block']}"}


def test_pages_are_accessible(topic, open_page, axe):
    press(topic, "r")
    page = open_page("Anna", bypass_csp=True, reduced_motion="reduce")
    home = topic.url.rpartition("/topics")[0]
    for path in (*(topic.url + path for path in PATHS), home, home + "/new-topic", *(home + path for path in PEOPLE)):
        page.goto(path)
        for summary in page.locator(".people summary").all():
            summary.click()
        page.evaluate(axe)
        for scheme, rules in RULES.items():
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate(f"axe.run({rules}).then(result => result.violations)")
            problems = [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in found]
            assert problems == [], (path, scheme)


def test_a_project_is_opened_from_the_list_of_several(chromium, axe, tmp_path, documents):
    for name in ("News", "Papers"):
        Project.create(tmp_path / f"{name}.review.sqlite", name, documents).close()
    (tmp_path / "broken.review.sqlite").write_text("no database")
    projects, secrets = Projects([tmp_path]), Secrets()
    context = chromium.new_context(viewport=DESKTOP, bypass_csp=False, reduced_motion="reduce")
    checked = chromium.new_context(viewport=PHONE, bypass_csp=True, reduced_motion="reduce")
    with in_thread(make_server(create_home(projects, Settings(), secrets), Settings().limits)) as address:
        projects._home = address
        try:
            page = context.new_page()
            page.goto(f"{address}/login#{secrets.token}")
            page.click("[aria-label='Open Papers']")
            # The page of the project has a port of its own, and the browser is logged in there.
            page.wait_for_selector("text=New topic", timeout=60_000)
            assert not page.url.startswith(address)
            page.click("text=All projects")
            page.wait_for_selector("text=broken.review.sqlite")
            assert page.locator(".status").inner_text() == "open"
            page = checked.new_page()
            page.goto(f"{address}/login#{secrets.token}")
            page.wait_for_selector("text=broken.review.sqlite")
            page.evaluate(axe)
            for scheme, rules in RULES.items():
                page.emulate_media(color_scheme=scheme)
                found = page.evaluate(f"axe.run({rules}).then(result => result.violations)")
                assert [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in found] == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        finally:
            context.close()
            checked.close()
            projects.close_all()
