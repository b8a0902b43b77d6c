"""Makes the pictures of the page in ``docs/review.md``, with Debian's Chromium.

    python -m benchmarks.review.screenshots

The documents are those of the embedded collection; the answers are its own labels.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import sync_playwright

from bayesift.datasets import load
from bayesift.review.serve import Page, open_page
from bayesift.review.service import Service
from bayesift.review.storage import Document, Project, Topic

IMAGES = Path(__file__).parents[2] / "docs" / "images"
TOPIC = Topic("courts", "Courts, judges and trials", ("judge", "court"))


def make_project(path: Path) -> set[int]:
    """Make a project of news messages; return those about courts."""
    news = load("newsroom")
    texts = [text for part in (news.train, news.test) for text in part.texts]
    labels = [labels for part in (news.train, news.test) for labels in part.labels]
    # Messages of one paragraph without a line for the title are left out.
    places = [place for place, text in enumerate(texts) if "\n" in text.strip()]
    parts = [texts[place].strip().split("\n", 1) for place in places]
    documents = [Document(f"n{number}", title, text.strip()) for number, (title, text) in enumerate(parts)]
    Project.create(path, "Newsroom", documents).close()
    return {number for number, place in enumerate(places) if "courts" in labels[place]}


def decide(service: Service, relevant: set[int], n: int) -> None:
    """Answer the next cards."""
    review = service.topic(1)
    for _ in range(n):
        card = review.card(1)
        assert card is not None
        review.label(1, card.document, "relevant" if card.document in relevant else "irrelevant")
    service.wait_for_fits()


@contextmanager
def served(page: Page) -> Iterator[BrowserPage]:
    """Serve the page from a thread, and log in with Chromium."""
    ready = Event()
    Thread(target=page.serve, args=(ready.set,), daemon=True).start()
    ready.wait()
    with sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 880, "height": 600})
        view.goto(page.links["Anna"])
        view.wait_for_selector("text=Topics")
        yield view
        chromium.close()


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "newsroom.review.sqlite"
        relevant = make_project(path)
        with open_page(path, reviewers=["Anna"], port=0) as page:
            page.service.add_topic(TOPIC, 1)
            with served(page) as view:
                address = view.url.rstrip("/")
                decide(page.service, relevant, 20)
                view.goto(f"{address}/topics/1")
                view.wait_for_selector("#sentence:not(:empty)")
                view.screenshot(path=IMAGES / "review-card.png")
                decide(page.service, relevant, 30)
                view.goto(f"{address}/topics/1/progress")
                view.screenshot(path=IMAGES / "review-progress.png", full_page=True)


if __name__ == "__main__":
    main()
