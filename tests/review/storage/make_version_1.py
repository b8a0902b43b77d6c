"""Makes ``version-1.sqlite``: a project as the first version of the tables had it. Run once; kept to show how.

python tests/review/storage/make_version_1.py
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

TABLES = """
PRAGMA page_size = 512;
CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (place INTEGER NOT NULL PRIMARY KEY, "key" TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, extra TEXT NOT NULL);
CREATE TABLE topics (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
    keywords_for TEXT NOT NULL, keywords_against TEXT NOT NULL, created TEXT NOT NULL);
CREATE TABLE reviewers (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE, token_hash TEXT UNIQUE,
    created TEXT NOT NULL);
CREATE TABLE events (id INTEGER NOT NULL PRIMARY KEY, topic INTEGER NOT NULL REFERENCES topics (id),
    document INTEGER NOT NULL REFERENCES documents (place), reviewer INTEGER NOT NULL REFERENCES reviewers (id),
    action TEXT NOT NULL, decision TEXT, undoes INTEGER REFERENCES events (id), at TEXT NOT NULL,
    why TEXT, model TEXT, rank INTEGER, probability FLOAT, CONSTRAINT undone_once UNIQUE (undoes));
CREATE INDEX events_of_topic ON events (topic, id);
"""

ROWS = """
INSERT INTO facts VALUES ('version', '1'), ('name', 'Old news'), ('id', '0123456789abcdef'),
    ('created', '2026-01-02T03:04:05.678Z'), ('source', 'news.csv');
INSERT INTO documents VALUES (0, 'a', 'Tin falls', 'The price of tin fell.', '{"year": 1987}'),
    (1, 'b', '', 'Ships wait for grain.', '{}'), (2, 'c', 'Copper', 'Copper rose.', '{}');
INSERT INTO topics VALUES (1, 'metals', 'Prices of metals', '["tin", "copper"]', '["ships"]',
    '2026-01-02T03:05:00.000Z');
INSERT INTO reviewers VALUES (1, 'Anna', 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    '2026-01-02T03:04:06.000Z');
INSERT INTO events VALUES
    (1, 1, 0, 1, 'label', 'relevant', NULL, '2026-01-02T03:06:00.000Z', 'probable', 'prior', 1, 0.75),
    (2, 1, 1, 1, 'label', 'relevant', NULL, '2026-01-02T03:06:01.000Z', 'random', 'online 1', 3, 0.125),
    (3, 1, 1, 1, 'undo', NULL, 2, '2026-01-02T03:06:02.000Z', NULL, NULL, NULL, NULL),
    (4, 1, 1, 1, 'label', 'irrelevant', NULL, '2026-01-02T03:06:03.000Z', 'random', 'online 1', 3, 0.125);
"""

if __name__ == "__main__":
    target = Path(__file__).with_name("version-1.sqlite")
    target.unlink(missing_ok=True)
    connection = sqlite3.connect(target)
    connection.executescript(TABLES + ROWS)
    connection.close()
