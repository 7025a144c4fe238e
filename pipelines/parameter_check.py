# SPDX-License-Identifier: Apache-2.0
"""Checks of one component's entry before it is built: its type path, its parameters, and those of nested objects."""

import collections.abc
import importlib
import inspect
import json
import pkgutil
import types
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_origin

from haystack import component
from haystack.core.errors import DeserializationError
from haystack.core.serialization import import_class_by_name
from haystack.utils import ComponentDevice, Secret
from pincite.pipelines.strict_yaml import KeyPath, YamlText, did_you_mean
from pydantic import TypeAdapter, ValidationError

ENTRY_KEYS = ("type", "init_parameters")
# What Haystack imports from without an allow-list (a type elsewhere needs HAYSTACK_DESERIALIZATION_ALLOWLIST).
_TRUSTED = ("haystack", "haystack_integrations", "haystack_experimental")
_PLAIN = (str, int, float, bool, type(None), Any)
_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
_UNIONS = (typing.Union, types.UnionType)
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.abc.Sequence, collections.abc.Mapping)


def check_component(source: YamlText, name: str) -> None:
    """
    Check the entry ``components.<name>``.

    :raises ConfigurationError: an unknown key, type path or parameter, or a parameter of the wrong type.
    """
    path: KeyPath = ("components", name)
    entry = source.data["components"][name]
    found = resolve_type(source, path, entry, f"component '{name}'")
    if entry["type"] not in component.registry:
        raise source.error((*path, "type"), f"component '{name}': {entry['type']} is no Haystack component")
    _check_parameters(source, path, entry, found, f"component '{name}'")


def resolve_type(source: YamlText, path: KeyPath, entry: Any, label: str) -> type:
    """
    The class that an entry ``{type, init_parameters}`` names.

    :raises ConfigurationError: an unknown key, or a type path that leads to no class or not to its defining module.
    """
    if not isinstance(entry, dict):
        raise source.error(path, f"{label} is {entry!r:.80}; it must be a mapping with type and init_parameters")
    for key in entry:
        if key not in ENTRY_KEYS:
            raise source.error((*path, key), f"{label}: unknown key '{key}'; {did_you_mean(key, ENTRY_KEYS)}")
    type_path = entry.get("type")
    if not isinstance(type_path, str) or "." not in type_path:
        raise source.error(path, f"{label}: type is {type_path!r:.80}; it must be a path such as package.module.Class")
    try:
        found = _import_class(type_path)
    except (ImportError, DeserializationError, ValueError) as error:
        raise source.error((*path, "type"), f"{label}: {error}") from error
    defined = f"{found.__module__}.{found.__name__}"
    if defined != type_path:
        # Haystack registers a component under the module that defines it and finds it under no other path.
        raise source.error((*path, "type"), f"{label}: type {type_path} is another name of {defined}; write that")
    return found


def _import_class(type_path: str) -> type:
    module_name, _, class_name = type_path.rpartition(".")
    if module_name.partition(".")[0] not in _TRUSTED:
        return import_class_by_name(type_path)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if module_name != missing and not module_name.startswith(f"{missing}."):
            raise ImportError(f"type {type_path} needs the module {missing}, which is not installed") from error
        raise ImportError(f"type {type_path}: there is no module {missing}; {_near_modules(missing)}") from error
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module_name]
        classes = [name for name in own if isinstance(getattr(module, name), type)]
        raise ImportError(
            f"type {type_path}: no class {class_name} in {module_name}; {did_you_mean(class_name, classes)}"
        )
    return found


def _near_modules(missing: str) -> str:
    parent, _, name = missing.rpartition(".")
    folders = importlib.import_module(parent).__path__ if parent else []
    return did_you_mean(name, [module.name for module in pkgutil.iter_modules(folders)])


def _check_parameters(source: YamlText, path: KeyPath, entry: dict[str, Any], found: type, label: str) -> None:
    path = (*path, "init_parameters")
    given = entry.get("init_parameters", {})
    if not isinstance(given, dict):
        raise source.error(path, f"{label}: init_parameters is {given!r:.80}; it must be a mapping")
    # Of __init__, not of the class: the signature of a Haystack component's class is its metaclass's (*args, **kwargs).
    declared = dict(inspect.signature(found.__init__).parameters)  # type: ignore[misc]
    declared.pop("self", None)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in declared.values())
    names = [name for name, parameter in declared.items() if parameter.kind not in _VARIABLE]
    for name, value in given.items():
        if name not in names and not takes_any:
            raise source.error((*path, name), f"{label}: unknown parameter '{name}'; {did_you_mean(name, names)}")
        for nested_path, nested in _nested_objects((*path, name), value):
            nested_label = f"{label}, {'.'.join(str(part) for part in nested_path[3:])}"
            nested_type = resolve_type(source, nested_path, nested, nested_label)
            _check_parameters(source, nested_path, nested, nested_type, nested_label)
    for name in names:
        if name not in given and declared[name].default is inspect.Parameter.empty:
            raise source.error(path, f"{label}: parameter '{name}' is missing; {found.__name__} needs it")
    hints = _type_hints(found)
    for name, value in given.items():
        hint = hints.get(name, Any)
        if not _fits(value, hint, own_from_dict=hasattr(found, "from_dict")):
            raise source.error(
                (*path, name),
                f"{label}: parameter '{name}' is {value!r:.80}; it must be {inspect.formatannotation(hint)}",
            )


def _nested_objects(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Serialised objects in a parameter's value: mappings whose ``type`` is a path, or that only lack it."""
    if _is_object(value) or (isinstance(value, dict) and "init_parameters" in value):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _nested_objects((*path, key), item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _nested_objects((*path, number), item)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str) and "." in value["type"]


def _type_hints(found: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(found.__init__, include_extras=True)  # type: ignore[misc]
    except (NameError, TypeError):
        # A foreign class may import the names of its annotations for type checkers only; its types stay unchecked.
        return {}


def _fits(value: Any, hint: Any, *, own_from_dict: bool) -> bool:
    """
    Whether a YAML value can stand for a parameter annotated ``hint``.

    Plain data is checked exactly: "10" is no int, and 1 no bool. A serialised object must be of an annotated class.
    Some objects are written as text or as a mapping of their own, which the component's ``from_dict`` understands
    (``DocumentWriter`` takes the name of a policy).
    """
    members = get_args(hint) if get_origin(hint) in _UNIONS else (hint,)
    if any(_is_valid(value, member) for member in members if _is_plain(member)):
        return True
    objects = [member for member in members if not _is_plain(member)]
    return _fits_object(value, objects) if _is_object(value) else _is_written_for(value, objects, own_from_dict)


def _is_written_for(value: Any, objects: list[Any], own_from_dict: bool) -> bool:
    if isinstance(value, str):
        return own_from_dict and any(_is_written_as_text(member) for member in objects)
    # A container of objects, which are checked one by one where they are found in it.
    if any(isinstance(value, get_origin(member)) for member in objects if get_origin(member) in _CONTAINERS):
        return True
    if not isinstance(value, dict) or not value or "init_parameters" in value:
        return False
    if "type" in value:  # "env_var", "single", "multiple": Haystack recognises them in any component
        return Secret in objects or ComponentDevice in objects
    return bool(objects) and own_from_dict


def _is_written_as_text(member: Any) -> bool:
    if isinstance(member, type) and issubclass(member, Enum):
        return True
    return (get_origin(member) or member) in (collections.abc.Callable, type, typing.TypeAlias)


def _fits_object(value: dict[str, Any], members: list[Any]) -> bool:
    module, _, name = value["type"].rpartition(".")
    found = getattr(importlib.import_module(module), name)
    # A Protocol says nothing about inheritance; what it asks for shows when the component is built.
    return any(
        not isinstance(member, type) or getattr(member, "_is_protocol", False) or issubclass(found, member)
        for member in members
    )


def _is_plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is typing.Literal:
        return True
    if origin is typing.Annotated:
        return _is_plain(get_args(hint)[0])
    if origin in _UNIONS or origin in _CONTAINERS:
        return all(argument is ... or _is_plain(argument) for argument in get_args(hint))
    return hint in _PLAIN or hint in _CONTAINERS


def _is_valid(value: Any, hint: Any) -> bool:
    try:
        # JSON mode: a list may stand for a tuple, as it must in YAML, and everything else is exact.
        TypeAdapter(hint).validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError:
        return False
    return True
