# SPDX-License-Identifier: Apache-2.0
"""Each file is read as what it is, or named with the reason why it cannot be (I1)."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from haystack import Document
from haystack.dataclasses import ByteStream
from haystack_integrations.components.pincite.data_file_converter import DataFileConverter
from haystack_integrations.components.pincite.reading.data_text import pretty_json
from haystack_integrations.components.pincite.source_converter import SourceConverter
from haystack_integrations.document_stores.pincite.errors import BadInputError
from hypothesis import given
from hypothesis import strategies as st


def convert(name: str, data: bytes, **meta: Any) -> dict[str, list[Any]]:
    return SourceConverter().run([ByteStream(data, meta={"file_name": name})], meta=meta)


def read(name: str, data: bytes, **meta: Any) -> Document:
    result = convert(name, data, **meta)
    assert not result["failures"]
    (document,) = result["documents"]
    return document


def reason(name: str, data: bytes, **meta: Any) -> str:
    result = convert(name, data, **meta)
    assert not result["documents"]
    (failure,) = result["failures"]
    assert failure["path"] == name
    assert "\n" not in failure["reason"]
    return str(failure["reason"])


def pdf(*pages: str) -> bytes:
    """A PDF file with a line of text on each page; an empty string is an empty page."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(pages)))
    font = 3 + 2 * len(pages)
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>"]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {4 + 2 * n} 0 R"
            f"/Resources<</Font<</F1 {font} 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj{content}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        body
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}"
            f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
        ).encode()
    )


def word(*paragraphs: tuple[str, str]) -> bytes:
    document = docx.Document()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Fee", "100"
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_text_file_is_its_text_to_the_last_code_point(text: str) -> None:
    if text.strip() and not text.startswith(("---", "\ufeff")):
        assert read("a.txt", text.encode()).content == text
        assert read("a.md", b"\xef\xbb\xbf" + text.encode()).content == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_says_the_encoding(encoding: str) -> None:
    assert read("a.txt", "הסכם\r\nשכירות".encode(encoding)).content == "הסכם\r\nשכירות"


def test_an_encoding_is_not_guessed_but_may_be_named() -> None:
    data = "The café's lease".encode("cp1252")
    assert reason("a.txt", data).startswith("wrong encoding: not UTF-8 at byte 7 (0xe9)")
    assert read("a.txt", data, encoding="cp1252").content == "The café's lease"
    assert reason("a.txt", data, encoding="klingon").startswith("unknown encoding 'klingon'")
    assert reason("a.txt", "without a mark".encode("utf-16-le")).startswith("wrong encoding: many NUL")


def test_what_postgresql_cannot_hold_is_replaced_in_place() -> None:
    assert (
        read("a.txt", b"a long enough text\0with one NUL in it").content == "a long enough text\ufffdwith one NUL in it"
    )


def test_front_matter_is_metadata_and_no_text() -> None:
    text = "---\ntitle: The Lease\ntags: a, b\ndate: 2024-05-06\nclient: 7\n---\nBody\n"
    document = read("a.md", text.encode(), title="Given")
    assert document.content == "Body\n"
    expected = {"title": "Given", "tags": ["a", "b"], "date": "2024-05-06", "client": 7, "media_type": "markdown"}
    assert expected.items() <= document.meta.items()


@pytest.mark.parametrize(
    "text", ["---\nNo mapping\n---\nBody", "---\nopen: [\n---\nBody", "---\na: b\nBody", "----\nBody"]
)
def test_dashes_at_the_top_that_are_no_front_matter_are_text(text: str) -> None:
    assert read("a.txt", text.encode()).content == text


def test_wrong_front_matter_is_named() -> None:
    assert "status is 'final'" in reason("a.md", b"---\nstatus: final\n---\nBody")


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: Letter: secret\ngroups: [lenders]\n---\nBody",
        "---\ngroups: [lenders\n---\nBody",
        "---\ngroups: [lenders]\nBody",
        "\n---\ngroups: [lenders]\n---\nBody",
        "+++\ngroups = ['lenders']\n+++\nBody",
        "---\ngroups: [lenders]\ngroups: []\n---\nBody",
        "---\ngroup: lenders\n---\nBody",
        "---\nGroups: [lenders]\n---\nBody",
        "---\ngroups:\n---\nBody",
        "---\ngroups: ['']\n---\nBody",
        "---\nStatus: draft\n---\nBody",
    ],
)
def test_front_matter_that_would_hide_a_document_is_read_or_refused(text: str) -> None:
    assert "front matter" in reason("a.md", text.encode())


def test_pdf_pages() -> None:
    document = read("a.PDF", pdf("First page", "", "Third (page)".replace("(", "").replace(")", "")))
    assert document.content == "First page\f\fThird page"
    assert document.meta["page_starts"] == [0, 11, 12]
    assert document.meta["media_type"] == "pdf"


def test_pdf_that_cannot_be_read() -> None:
    assert "no text layer on any of its 2 page(s)" in reason("a.pdf", pdf("", ""))
    assert "corrupt" in reason("a.pdf", b"%PDF-1.4 cut off")
    assert "corrupt" in reason("a.pdf", b"not a PDF at all")


def test_docx_headings_and_tables() -> None:
    document = read("a.docx", word(("Heading 1", "Term"), ("Normal", "It lasts a year."), ("Heading 2", "Renewal")))
    assert document.content is not None
    assert document.content.startswith("# Term\nIt lasts a year.\n## Renewal\n")
    assert "Fee" in document.content
    assert "100" in document.content


def test_docx_numbers_of_clauses_are_text() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate([("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)")])
    )
    document = docx.Document()
    numbering = document.part.numbering_part.element
    for child in list(numbering):
        numbering.remove(child)
    for xml in (
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="7">{levels}</w:abstractNum>',
        f'<w:num {nsdecls("w")} w:numId="1"><w:abstractNumId w:val="7"/></w:num>',
        f'<w:num {nsdecls("w")} w:numId="2"><w:abstractNumId w:val="7"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>',
    ):
        numbering.append(parse_xml(xml))
    for list_id, level, text in (
        (1, 0, "Term"), (1, 1, "Start"), (1, 1, "End"), (1, 2, "by notice"), (1, 2, "by law"), (0, 0, "Plain"),
        (1, 0, "Fees"), (1, 1, "Due"), (2, 0, "Notices"),
    ):  # fmt: skip
        properties = document.add_paragraph(text)._p.get_or_add_pPr()
        place = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
        properties.append(parse_xml(place))
    buffer = io.BytesIO()
    document.save(buffer)
    assert (read("a.docx", buffer.getvalue()).content or "").split("\n") == [
        "1. Term", "1.1 Start", "1.2 End", "(a) by notice", "(b) by law", "Plain", "2. Fees", "2.1 Due", "9. Notices",
    ]  # fmt: skip


def test_docx_with_damaged_lists_is_read_without_their_numbers() -> None:
    document = docx.Document()
    document.part.numbering_part.element.append(parse_xml(f"<w:num {nsdecls('w')}><w:lvlOverride/></w:num>"))
    document.part.numbering_part.element.append(parse_xml(f"<w:abstractNum {nsdecls('w')}><w:lvl/></w:abstractNum>"))
    document.add_paragraph("Text.")
    buffer = io.BytesIO()
    document.save(buffer)
    result = convert("a.docx", buffer.getvalue())
    assert result["documents"][0].content == "Text."
    assert "numbers of clauses are missing" in result["notes"][0]["note"]


def test_docx_in_strict_form() -> None:
    strict = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word(("Normal", "Strictly speaking.")))) as source,
        zipfile.ZipFile(strict, "w") as target,
    ):
        for entry in source.infolist():
            data = source.read(entry)
            for part, main in (
                (b"officeDocument/2006/", b"ooxml/officeDocument/"),
                (b"wordprocessingml/2006/main", b"ooxml/wordprocessingml/main"),
            ):
                data = data.replace(b"http://schemas.openxmlformats.org/" + part, b"http://purl.oclc.org/" + main)
            target.writestr(entry, data)
    assert "Strictly speaking." in (read("a.docx", strict.getvalue()).content or "")


def test_docx_that_cannot_be_read() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512
    assert reason("a.doc", ole).startswith("legacy")
    assert reason("a.docx", ole).startswith("legacy")
    assert reason("a.docx", ole + "EncryptedPackage".encode("utf-16-le")).startswith("locked")
    assert "corrupt" in reason("a.docx", b"PK\3\4 cut off")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("other.xml", "<a/>")
    assert "no word/document.xml" in reason("a.docx", archive.getvalue())


def test_html_is_its_visible_text() -> None:
    page = """<!doctype html><html><head><title>The  Lease</title><style>p {}</style></head><body>
    <nav><a href=x>Home</a></nav><main><h2>1. Term</h2><p>It lasts <b>one</b>
    year.</p><script>var x = "no";</script><table><tr><td>Fee</td><td>100</td></tr></table>
    <p hidden>secret</p><ul><li>first<li>second</ul></main><footer>Contact</footer></body></html>"""
    document = read("a.html", page.encode())
    assert document.content == "## 1. Term\n\nIt lasts one year.\n\nFee | 100\n\n- first\n- second"
    assert document.meta["title"] == "The Lease"


def test_html_menus_go_and_lists_of_clauses_stay() -> None:
    menu = "<ul>" + "".join(f"<li><a href=x>Language {n}</a></li>" for n in range(20)) + "</ul>"
    clauses = "<ol>" + "".join(f"<li>Clause {n} binds <a href=x>the Parties</a></li>" for n in range(20)) + "</ol>"
    content = read("a.htm", f"<p>Body</p>{menu}{clauses}".encode()).content or ""
    assert "Language" not in content
    assert content.count("binds the Parties") == 20


def test_html_in_a_declared_encoding() -> None:
    page = '<meta charset="windows-1255"><p>הסכם שכירות</p>'.encode("windows-1255")
    assert read("a.html", page).content == "הסכם שכירות"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_pretty_json_says_the_same(value: Any) -> None:
    text = json.dumps(value)
    pretty = pretty_json(text)
    assert json.loads(pretty) == value
    assert pretty_json(pretty) == pretty


def test_minified_json_is_laid_out_and_keeps_its_digits() -> None:
    text = '{"a":1.10,"a":2,"h":"\\u05e9","l":[' + ",".join(["12"] * 200) + '],"e":{}}'
    document = read("a.json", text.encode())
    assert document.content is not None
    assert document.content.startswith('{\n  "a": 1.10,\n  "a": 2,\n  "h": "ש",\n  "l": [\n    12,\n')
    assert document.content.endswith('  ],\n  "e": {}\n}\n')
    assert document.meta["media_type"] == "data"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '{\n "b":  1\n}\n'), ("a.yaml", "a: !tag [1, 2]\n# why\n"), ("a.toml", "a = 1 # why\n")],
)
def test_other_data_files_are_text_as_they_stand(name: str, text: str) -> None:
    assert read(name, text.encode()).content == text


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.json", b'{"a": }', "no valid JSON: Expecting value at line 1, column 7"),
        ("a.yaml", b"a: [1", "no valid YAML"),
        ("a.toml", b"a = ", "no valid TOML"),
        ("a.json", b"[" * 100_000, "JSON that is nested too deeply"),
        ("a.txt", b"", "empty file"),
        ("a.txt", b" \n ", "no text in it"),
        ("a.html", b"<p> </p>", "no text in it"),
        ("a.png", b"\x89PNG", "unsupported type .png"),
        ("README", b"text", "unsupported type without an ending"),
    ],
)
def test_reasons(name: str, data: bytes, expected: str) -> None:
    assert reason(name, data).startswith(expected)


def test_a_file_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "c.txt").write_text("C")
    names = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    result = SourceConverter().run(names, meta=[{"source_id": "x"}, {}, {}])
    assert [d.meta["source_id"] for d in result["documents"]] == ["x", "c.txt"]
    assert [(f["path"], f["reason"]) for f in result["failures"]] == [
        (str(names[1]), "cannot be opened: No such file or directory")
    ]
    with pytest.raises(BadInputError, match="2 metadata mappings for 3 sources"):
        SourceConverter().run(names, meta=[{}, {}])


def test_data_file_converter_takes_data_files_only() -> None:
    streams = [ByteStream(b"{}", meta={"file_name": "a.json"}), ByteStream(b"text", meta={"file_name": "a.txt"})]
    result = DataFileConverter().run(streams)
    assert [d.meta["media_type"] for d in result["documents"]] == ["data"]
    assert [f["path"] for f in result["failures"]] == ["a.txt"]


@pytest.mark.parametrize("kind", [SourceConverter, DataFileConverter])
def test_round_trip(kind: type) -> None:
    assert isinstance(kind.from_dict(kind().to_dict()), kind)


def test_the_shared_files(shared: Path) -> None:
    files = [path for path in sorted((shared / "files").iterdir()) if path.suffix != ".jsonl"]
    result = SourceConverter().run(files)
    reasons = {Path(f["path"]).name: f["reason"].split(":")[0].split(" (")[0] for f in result["failures"]}
    assert {name: text[:13] for name, text in reasons.items()} == {
        "OCRmyPDF__blank.pdf": "no text layer",
        "docling__2206.01062_pg3.pdf": "locked",
        "docling__legacy_sample.doc": "legacy Office",
    }
    assert len(result["documents"]) == 13
    assert [Path(n["path"]).name for n in result["notes"]] == ["OCRmyPDF__multipage.pdf"]


def test_form_feeds_part_a_text_into_pages() -> None:
    result = SourceConverter().run([ByteStream(b"one\n\ftwo\n\fthree\n\f", meta={"file_path": "a.txt"})])
    assert result["documents"][0].meta["page_starts"] == [0, 5, 10]
    plain = SourceConverter().run([ByteStream(b"one", meta={"file_path": "a.txt"})])
    assert "page_starts" not in plain["documents"][0].meta


def test_json_lines_are_data_and_a_bad_line_is_named() -> None:
    good, bad = (
        ByteStream(text, meta={"file_path": "a.jsonl"}) for text in (b'{"a": 1}\n\n{"a": 2}\n', b'{"a": 1}\n{"a"\n')
    )
    assert SourceConverter().run([good])["documents"][0].meta["media_type"] == "data"
    assert SourceConverter().run([bad])["failures"][0]["reason"].startswith("line 2: no valid JSON")
