# SPDX-License-Identifier: Apache-2.0
"""Checks of how the components of a pipeline are wired, which Haystack makes late, in many lines, or not at all."""

from inspect import formatannotation

from haystack import Pipeline
from haystack.core.errors import PipelineError
from pincite.pipelines.strict_yaml import KeyPath, YamlText, did_you_mean

CONNECTION_KEYS = ("sender", "receiver")
# Inputs of these classes are all wired or the pipeline is wrong: one that has a default would silently go without the
# asker's groups, filters or matter.
OUR_COMPONENTS = "haystack_integrations.components.pincite."


def check_connection_entries(source: YamlText) -> None:
    """
    Check ``connections`` as far as the text alone shows.

    :raises ConfigurationError: an entry that is no ``{sender, receiver}``, or an end that names no component.
    """
    entries = source.data["connections"]
    components = source.data["components"]
    if not isinstance(entries, list):
        raise source.error(
            ("connections",), f"connections is {entries!r:.80}; it must be a list of sender and receiver"
        )
    for number, entry in enumerate(entries):
        path: KeyPath = ("connections", number)
        if not isinstance(entry, dict):
            raise source.error(path, f"connection {entry!r:.80} must be a mapping with sender and receiver")
        for key in entry:
            if key not in CONNECTION_KEYS:
                raise source.error(
                    (*path, key), f"connection: unknown key '{key}'; {did_you_mean(key, CONNECTION_KEYS)}"
                )
        for key in CONNECTION_KEYS:
            end = entry.get(key)
            if not isinstance(end, str):
                raise source.error(path, f"connection: {key} is {end!r:.80}; it must be component.socket")
            name = end.partition(".")[0]
            if name not in components:
                raise source.error(
                    (*path, key), f"connection: {key} '{end}' names no component; {did_you_mean(name, components)}"
                )


def connect(source: YamlText, pipeline: Pipeline) -> None:
    """
    Make the connections of the text in a pipeline that has the components.

    :raises ConfigurationError: an unknown socket, types that do not match, or a second connection to one input.
    """
    # Taken now: Haystack marks a list input as variadic when it meets a second connection.
    variadic = {
        (name, socket_name)
        for name, sockets in pipeline.graph.nodes(data="input_sockets")
        for socket_name, socket in sockets.items()
        if socket.is_variadic
    }
    feeds: dict[tuple[str, str], str] = {}
    for number, entry in enumerate(source.data["connections"]):
        sender, receiver = entry["sender"], entry["receiver"]
        path: KeyPath = ("connections", number)
        _check_sockets(source, path, pipeline, sender, receiver)
        before = set(pipeline.graph.edges(keys=True))
        try:
            pipeline.connect(sender, receiver)
        except PipelineError as error:
            raise source.error(
                path, f"connection {sender} -> {receiver}: {_offer(pipeline, sender, receiver)}"
            ) from error
        made = set(pipeline.graph.edges(keys=True)) - before
        if not made:
            raise source.error(path, f"connection {sender} -> {receiver} is given twice; keep one")
        for edge in made:
            _check_conversion(source, path, pipeline, edge)
            socket = pipeline.graph.edges[edge]["to_socket"]
            target = (edge[1], socket.name)
            # Haystack would join both lists in the order of the components' names (haystack#12646).
            if target in feeds and target not in variadic:
                raise source.error(
                    path,
                    f"connection {sender} -> {receiver}: {'.'.join(target)} already gets {feeds[target]}; "
                    "an input takes one connection",
                )
            feeds[target] = sender


def _check_conversion(source: YamlText, path: KeyPath, pipeline: Pipeline, edge: tuple[str, str, str]) -> None:
    """Refuse a connection to our components for which Haystack would wrap a value in a list, or take one out."""
    made = pipeline.graph.edges[edge]
    if made["conversion_strategy"] is not None and _is_ours(pipeline, edge[1]):
        sender, receiver = f"{edge[0]}.{made['from_socket'].name}", f"{edge[1]}.{made['to_socket'].name}"
        raise source.error(path, f"connection {sender} -> {receiver}: {_offer(pipeline, sender, receiver)}")


def _offer(pipeline: Pipeline, sender: str, receiver: str) -> str:
    """What the sender gives and the receiver takes, by type where the connection names the socket."""
    return f"{_types(pipeline, sender, 'output')}, but {_types(pipeline, receiver, 'input')}"


def _types(pipeline: Pipeline, end: str, kind: str) -> str:
    name, _, wanted = end.partition(".")
    sockets = pipeline.graph.nodes[name][f"{kind}_sockets"]
    chosen = {socket_name: socket for socket_name, socket in sockets.items() if wanted in ("", socket_name)}
    shown = [f"{name}.{socket_name} is {formatannotation(socket.type)}" for socket_name, socket in chosen.items()]
    return " and ".join(shown) or f"{name} has no {kind}"


def _is_ours(pipeline: Pipeline, name: str) -> bool:
    return type(pipeline.get_component(name)).__module__.startswith(OUR_COMPONENTS)


def check_inputs(source: YamlText, pipeline: Pipeline, entry: str) -> None:
    """
    Check that every input that must be fed is connected.

    :param entry: the component whose inputs are the inputs of the pipeline.
    :raises ConfigurationError: an input without a connection that is mandatory, or that belongs to our components.
    """
    for name, node in pipeline.graph.nodes(data=True):
        if name == entry:
            continue
        for socket_name, socket in node["input_sockets"].items():
            if not socket.senders and (socket.is_mandatory or _is_ours(pipeline, name)):
                raise source.error(
                    ("components", name),
                    f"component '{name}': nothing is connected to its input '{socket_name}'; "
                    f"connect {_possible_sender(pipeline, name, socket_name)} to {name}.{socket_name}",
                )


def _check_sockets(source: YamlText, path: KeyPath, pipeline: Pipeline, sender: str, receiver: str) -> None:
    for key, end, kind in (("sender", sender, "output"), ("receiver", receiver, "input")):
        name, _, socket = end.partition(".")
        known = pipeline.graph.nodes[name][f"{kind}_sockets"]
        if socket and socket not in known:
            raise source.error(
                (*path, key), f"connection: component '{name}' has no {kind} '{socket}'; {did_you_mean(socket, known)}"
            )


def _possible_sender(pipeline: Pipeline, receiver: str, socket_name: str) -> str:
    senders = [
        f"{name}.{socket_name}"
        for name, sockets in pipeline.graph.nodes(data="output_sockets")
        if socket_name in sockets and name != receiver
    ]
    return " or ".join(senders) if senders else "an output"
