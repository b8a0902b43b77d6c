"""Where a document can be read: its DOI, PubMed, a page or a PDF, as links that lead nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_PUBMED = re.compile(r"\d{1,9}")
_SEPARATED = re.compile(r"[\s;|]+")

#: What the source may call each kind of link, in small letters.
_DOIS = ("doi", "do", "lid", "aid")
_PUBMED_IDS = ("pmid", "pubmed_id", "pubmed id", "pubmed", "an", "accession number")
_ADDRESSES = ("url", "urls", "ur", "link", "links", "openalex_id", "id_url")
_PDFS = ("pdf", "pdf_url", "l1", "pdf url", "file", "full text", "l2")


class Link(NamedTuple):
    """A link and what it leads to: "DOI", "PubMed", "PDF" or the name of a site."""

    name: str
    address: str


def links_of(extra: Mapping[str, Any]) -> list[Link]:
    """Find the links among whatever else a source says about a document; each once, at most six.

    Only addresses of the web become links, so that no text of a source can make the page do something.

    Examples
    --------
    >>> from bayesift.review.links import links_of
    >>> links_of({"DOI": "https://doi.org/10.1/x<y>", "url": "javascript:alert(1)"})
    []
    >>> links_of({"doi": "doi:10.1000/182", "PMID": 1234, "url": "https://example.org/a?b=c"})[0].address
    'https://doi.org/10.1000/182'
    """
    return list({link.address: link for link in _found(extra)}.values())[:6]


def doi_of(extra: Mapping[str, Any]) -> str | None:
    """Return the DOI among whatever else a source says, in small letters, without what stands before it.

    Examples
    --------
    >>> from bayesift.review.links import doi_of
    >>> doi_of({"DOI": "https://doi.org/10.1000/ABC."}), doi_of({"doi": "none"})
    ('10.1000/abc', None)
    """
    for value in _values(extra, _DOIS):
        found = _DOI.search(value)
        if found:
            return found[0].rstrip(".,;)").lower()
    return None


def _found(extra: Mapping[str, Any]) -> Iterator[Link]:
    doi = doi_of(extra)
    if doi is not None:
        yield Link("DOI", f"https://doi.org/{quote(doi, safe='/()')}")
    for value in _values(extra, _PUBMED_IDS):
        if _PUBMED.fullmatch(value):
            yield Link("PubMed", f"https://pubmed.ncbi.nlm.nih.gov/{value}/")
    for names, kind in ((_PDFS, "PDF"), (_ADDRESSES, "")):
        for value in _values(extra, names):
            for address in _SEPARATED.split(value):
                parts = _web_address(address)
                if parts is not None:
                    is_pdf = kind or ("PDF" if parts.path.lower().endswith(".pdf") else parts.hostname or "")
                    yield Link(is_pdf, address)


def _values(extra: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """Return the values of all columns that are named so, in the order of the names."""
    by_name = {str(name).strip().lower(): str(value).strip() for name, value in extra.items() if value is not None}
    return [by_name[name] for name in names if by_name.get(name)]


def _web_address(address: str) -> Any:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname and len(address) <= 2000 else None
