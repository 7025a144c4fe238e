# SPDX-License-Identifier: Apache-2.0
"""Each way to get a pipeline file wrong gives one line that names the file, the place, the value and what is right."""

import re

import pytest
from haystack import Pipeline
from haystack_integrations.document_stores.pincite.errors import ConfigurationError
from pincite.pipelines.loader import STAGES, check_pipeline_text

GOOD = """\
components:
  converter:
    type: haystack.components.converters.txt.TextFileToDocument
    init_parameters:
      encoding: utf-8
  splitter:
    type: haystack.components.preprocessors.document_splitter.DocumentSplitter
    init_parameters:
      split_by: word
      split_length: 200
  writer:
    type: haystack.components.writers.document_writer.DocumentWriter
    init_parameters:
      policy: OVERWRITE
      document_store:
        type: haystack.document_stores.in_memory.document_store.InMemoryDocumentStore
        init_parameters:
          bm25_algorithm: BM25L
          index: fixed
connections:
  - sender: converter.documents
    receiver: splitter.documents
  - sender: splitter.documents
    receiver: writer.documents
"""

# (text in GOOD, what it becomes, the whole message after "file.yaml:LINE: ")
MISUSES = [
    pytest.param("  splitter:\n    type", "  splitter: {\n    type", "not valid YAML: ", id="invalid YAML"),
    pytest.param(
        "connections:", "conections:", "unknown key 'conections'; did you mean 'connections'?", id="top level"
    ),
    pytest.param(
        "init_parameters:\n      split_by",
        "init_paramters:\n      split_by",
        "component 'splitter': unknown key 'init_paramters'; did you mean 'init_parameters'?",
        id="component key",
    ),
    pytest.param(
        "split_length:",
        "split_lenght:",
        "component 'splitter': unknown parameter 'split_lenght'; did you mean 'split_length'?",
        id="parameter",
    ),
    pytest.param(
        "bm25_algorithm:",
        "bm25_algoritm:",
        "component 'writer', document_store: unknown parameter 'bm25_algoritm'; did you mean 'bm25_algorithm'?",
        id="nested parameter",
    ),
    pytest.param(
        "init_parameters:\n          bm25",
        "init_params:\n          bm25",
        "component 'writer', document_store: unknown key 'init_params'; did you mean 'init_parameters'?",
        id="nested key",
    ),
    pytest.param(
        "split_length: 200",
        "split_length: '200'",
        "component 'splitter': parameter 'split_length' is '200'; it must be int",
        id="text for a number",
    ),
    pytest.param(
        "        type: haystack.document_stores",
        "        typ: haystack.document_stores",
        "component 'writer', document_store: unknown key 'typ'; did you mean 'type'?",
        id="type of a nested object",
    ),
    pytest.param(
        "split_length: 200",
        "split_length: {type: env_var, env_vars: [LONG], strict: true}",
        "component 'splitter': parameter 'split_length' is {'type': 'env_var', 'env_vars': ['LONG'], 'strict': True}; "
        "it must be int",
        id="secret for a number",
    ),
    pytest.param(
        "policy: OVERWRITE",
        "policy: 3",
        "component 'writer': parameter 'policy' is 3; it must be haystack.document_stores.types.policy.DuplicatePolicy",
        id="number for a choice",
    ),
    pytest.param(
        "policy: OVERWRITE", "policy: OVERWRIT", "component 'writer': ", id="no choice of those of a component's own"
    ),
    pytest.param(
        "split_length: 200",
        "split_length: true",
        "component 'splitter': parameter 'split_length' is True; it must be int",
        id="flag for a number",
    ),
    pytest.param(
        "bm25_algorithm: BM25L",
        "bm25_algorithm: BM26",
        "component 'writer', document_store: parameter 'bm25_algorithm' is 'BM26'; "
        "it must be Literal['BM25Okapi', 'BM25L', 'BM25Plus']",
        id="no choice of a literal",
    ),
    pytest.param(
        "encoding: utf-8",
        "encoding: {type: haystack.document_stores.in_memory.document_store.InMemoryDocumentStore}",
        "component 'converter': parameter 'encoding' is {'type': ",
        id="object for a text",
    ),
    pytest.param(
        "document_splitter.DocumentSplitter",
        "document_spliter.DocumentSplitter",
        "component 'splitter': type haystack.components.preprocessors.document_spliter.DocumentSplitter: there is no "
        "module haystack.components.preprocessors.document_spliter; did you mean 'document_splitter'?",
        id="module",
    ),
    pytest.param(
        "document_splitter.DocumentSplitter",
        "document_splitter.DocumentSpliter",
        "component 'splitter': type haystack.components.preprocessors.document_splitter.DocumentSpliter: no class "
        "DocumentSpliter in haystack.components.preprocessors.document_splitter; did you mean 'DocumentSplitter'?",
        id="class",
    ),
    pytest.param(
        "preprocessors.document_splitter.DocumentSplitter",
        "preprocessors.DocumentSplitter",
        "component 'splitter': type haystack.components.preprocessors.DocumentSplitter is another name of "
        "haystack.components.preprocessors.document_splitter.DocumentSplitter; write that",
        id="re-exported class",
    ),
    pytest.param(
        "haystack.components.preprocessors.document_splitter.DocumentSplitter",
        "haystack.dataclasses.document.Document",
        "component 'splitter': haystack.dataclasses.document.Document is no Haystack component",
        id="no component",
    ),
    pytest.param(
        "haystack.components.preprocessors.document_splitter.DocumentSplitter",
        "subprocess.Popen",
        "component 'splitter': ",
        id="module that Haystack does not trust",
    ),
    pytest.param(
        "    type: haystack.components.pre",
        "    typ: haystack.components.pre",
        "component 'splitter': unknown key 'typ'; did you mean 'type'?",
        id="type",
    ),
    pytest.param(
        "sender: splitter.documents",
        "sender: spliter.documents",
        "connection: sender 'spliter.documents' names no component; did you mean 'splitter'?",
        id="connection to no component",
    ),
    pytest.param(
        "receiver: writer.documents",
        "receiver: writer.document",
        "connection: component 'writer' has no input 'document'; did you mean 'documents'?",
        id="connection to no input",
    ),
    pytest.param(
        "sender: splitter.documents",
        "sender: splitter.docs",
        "connection: component 'splitter' has no output 'docs'; did you mean 'documents'?",
        id="connection from no output",
    ),
    pytest.param(
        "receiver: writer.documents",
        "reciever: writer.documents",
        "connection: unknown key 'reciever'; did you mean 'receiver'?",
        id="connection key",
    ),
    pytest.param(
        "receiver: writer.documents",
        "receiver: writer.policy",
        "connection splitter.documents -> writer.policy: "
        "splitter.documents is list[haystack.dataclasses.document.Document], "
        "but writer.policy is haystack.document_stores.types.policy.DuplicatePolicy | None",
        id="types that do not match",
    ),
    pytest.param(
        "  - sender: splitter.documents\n    receiver: writer.documents\n",
        "",
        "component 'writer': nothing is connected to its input 'documents'; "
        "connect converter.documents or splitter.documents to writer.documents",
        id="unconnected input",
    ),
    pytest.param(
        "    receiver: writer.documents\n",
        "    receiver: writer.documents\n  - sender: converter.documents\n    receiver: writer.documents\n",
        "connection converter.documents -> writer.documents: writer.documents already gets splitter.documents; "
        "an input takes one connection",
        id="two connections to one input",
    ),
    pytest.param(
        "      policy: OVERWRITE\n",
        "      policy: OVERWRITE\n      policy: SKIP\n",
        "'policy' is given twice (first on line 14); keep one",
        id="key given twice",
    ),
    pytest.param(
        "  converter:\n", "  convertor:\n", "the stage 'converter' is missing; is it 'convertor'?", id="stage"
    ),
    pytest.param(
        "split_length: 200",
        "split_length: 0",
        "component 'splitter': split_length must be greater than 0",
        id="value that the component refuses",
    ),
]


def test_a_good_pipeline_equals_what_haystack_loads() -> None:
    assert check_pipeline_text(GOOD, "file.yaml", "indexing").to_dict() == Pipeline.loads(GOOD).to_dict()


@pytest.mark.parametrize(("right", "wrong", "message"), MISUSES)
def test_misuse_is_one_line(right: str, wrong: str, message: str) -> None:
    assert GOOD.count(right) == 1
    with pytest.raises(ConfigurationError) as raised:
        check_pipeline_text(GOOD.replace(right, wrong), "file.yaml", "indexing")
    found = str(raised.value)
    assert "\n" not in found
    assert re.fullmatch(r"file\.yaml:\d+: .*", found)
    assert found.partition(": ")[2].startswith(message)


def test_the_line_is_that_of_the_mistake() -> None:
    with pytest.raises(ConfigurationError, match=r"^file\.yaml:10: "):
        check_pipeline_text(GOOD.replace("split_length: 200", "split_length: x"), "file.yaml", "indexing")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file.yaml: holds nothing; a mapping (key: value) is needed"),
        ("- a", "file.yaml: holds a list; a mapping (key: value) is needed"),
        ("components: {}", "file.yaml: 'connections' is missing"),
        ("components: []\nconnections: []", "file.yaml:1: components is []; it must be a mapping of names"),
        ("1: 2", "file.yaml:1: the key 1 is no text; quote it"),
        ("a: \0", "file.yaml: not valid YAML: "),
        ("[" * 5000, "file.yaml"),
    ],
)
def test_a_text_that_is_no_pipeline(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        check_pipeline_text(text, "file.yaml", "indexing")
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_query_pipeline_needs_every_stage() -> None:
    with pytest.raises(ConfigurationError, match="the stage 'request' is missing"):
        check_pipeline_text(GOOD, "file.yaml", "query")
    assert len(set(STAGES["query"])) == 15
