"""The tables of a project, as this version of the program makes them."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

#: The version of the tables; a project of an older one is migrated, a newer one is refused.
SCHEMA_VERSION = 8

metadata = MetaData()

#: Facts about the project as a whole: its version, name, identity, when and from what it was made.
facts = Table(
    "facts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

#: The documents, in the order of the source; ``extra`` is a JSON object of whatever else the source says.
documents = Table(
    "documents",
    metadata,
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("extra", Text, nullable=False),
)

#: What is searched for; keywords, reasons for exclusion and tags are JSON lists of strings. The shares say how cards
#: are chosen, the target and ``at_most`` when to stop, and ``shared`` whether all reviewers work on one queue.
#: ``earlier`` is a JSON list of the earlier reviews that a topic learns from.
topics = Table(
    "topics",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("description", Text, nullable=False),
    Column("keywords_for", Text, nullable=False),
    Column("keywords_against", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("informative", Float, nullable=False, server_default="0.10"),
    Column("random", Float, nullable=False, server_default="0.05"),
    Column("target_recall", Float, nullable=False, server_default="0.95"),
    Column("confidence", Float, nullable=False, server_default="0.95"),
    Column("shared", Boolean, nullable=False, server_default=true()),
    Column("inclusion", Text, nullable=False, server_default=""),
    Column("exclusion", Text, nullable=False, server_default=""),
    Column("reasons", Text, nullable=False, server_default="[]"),
    Column("tags", Text, nullable=False, server_default="[]"),
    Column("double", Boolean, nullable=False, server_default=false()),
    Column("full_text", Boolean, nullable=False, server_default=false()),
    Column("shares", Text, nullable=False, server_default="[]"),
    Column("at_most", Integer, nullable=False, server_default="0"),
    Column("earlier", Text, nullable=False, server_default="[]"),
)

#: People; of a token only the SHA-256 is kept. Who was removed stays, with the time, for the names in the history.
reviewers = Table(
    "reviewers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("token_hash", Text, unique=True),
    Column("created", Text, nullable=False),
    Column("role", Text, nullable=False, server_default="reviewer"),
    Column("removed", Text),
)

#: Links to log in that are good for a while, beside the token; of each only the SHA-256 is kept.
links = Table(
    "links",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
    Column("expires", Text, nullable=False),
)

#: Who is logged in; of the cookie only the SHA-256 is kept.
sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
    Column("created", Text, nullable=False),
    Column("address", Text, nullable=False, server_default=""),
    Column("browser", Text, nullable=False, server_default=""),
)

#: The audit log: rows are only ever added. The reviewer is missing where a stranger or the command line acts.
audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id")),
    Column("address", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

#: The history: rows are only ever added. An undo is a row that names the row it takes back.
events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topic", Integer, ForeignKey("topics.id"), nullable=False),
    Column("document", Integer, ForeignKey("documents.place"), nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
    Column("action", Text, nullable=False),
    Column("decision", Text),
    Column("undoes", Integer, ForeignKey("events.id")),
    Column("at", Text, nullable=False),
    Column("why", Text),
    Column("model", Text),
    Column("rank", Integer),
    Column("probability", Float),
    Column("reason", Text),
    Column("stage", Text, nullable=False, server_default="abstract"),
    UniqueConstraint("undoes", name="undone_once"),
    Index("events_of_topic", "topic", "id"),
)

#: Notes and tags (a JSON list) of reviewers on documents: rows are only ever added, the last of each kind holds.
remarks = Table(
    "remarks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topic", Integer, ForeignKey("topics.id"), nullable=False),
    Column("document", Integer, ForeignKey("documents.place"), nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("at", Text, nullable=False),
    Index("remarks_of_document", "topic", "document"),
)

#: Documents that are copies of others, and how that is known; who is kept apart by a person is its own original.
duplicates = Table(
    "duplicates",
    metadata,
    Column("document", Integer, ForeignKey("documents.place"), primary_key=True, autoincrement=False),
    Column("original", Integer, ForeignKey("documents.place"), nullable=False),
    Column("how", Text, nullable=False),
)

#: Texts that were mended by hand, before and after: rows are only ever added.
mendings = Table(
    "mendings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document", Integer, ForeignKey("documents.place"), nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id")),
    Column("at", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
)

#: When reviewing a topic was stopped, or taken up again, and what the page said at that moment; only ever added to.
stops = Table(
    "stops",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topic", Integer, ForeignKey("topics.id"), nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id"), nullable=False),
    Column("at", Text, nullable=False),
    Column("stopped", Boolean, nullable=False),
    Column("statement", Text, nullable=False),
    Column("numbers", Text, nullable=False),
    Column("note", Text, nullable=False),
)

#: Earlier reviews, of which a topic may learn: the file each came from, who added it when, and a sum that tells its
#: records from others; only ever added to.
earlier_reviews = Table(
    "earlier_reviews",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("at", Text, nullable=False),
    Column("reviewer", Integer, ForeignKey("reviewers.id")),
    Column("relevant", Integer, nullable=False),
    Column("irrelevant", Integer, nullable=False),
    Column("in_project", Integer, nullable=False),
)

#: Their records; they are no documents of the project.
earlier_records = Table(
    "earlier_records",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("review", Integer, ForeignKey("earlier_reviews.id"), nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("relevant", Boolean, nullable=False),
    Index("records_of_earlier_review", "review", "id"),
)
