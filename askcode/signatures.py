"""Read the head of a definition: its lines up to the body, in one."""

from __future__ import annotations

import re

from tree_sitter import Node

from askcode.definition_nodes import words

_MAX_CHARS = 200
# More bytes than a head of that length takes, blanks and multi-byte letters included.
_MAX_BYTES = 1200
_BLANKS = re.compile(r"\s+")
_COMMENT_LINES = re.compile(r"\n\s*(?:#|//|--|/\*).*")
# What opens a body, or ends a statement.
_OPENERS = re.compile(r"(?:\s*(?:=>|[({:=;]|\bdo\b|\bwhere\b|->))+$")
_ATTRIBUTES = words(
    "attribute_list attributes decorator annotation marker_annotation attribute_item"
)
_BODIES = words(
    "block compound_statement class_body declaration_list do_block function_body template_body "
    "statement_block field_declaration_list enum_body interface_body body_statement body "
    "block_start enum_class_body class_declarations instance_declarations brace_list "
    "keyframe_block_list recipe_line"
)
_DATA = words("pair block_mapping_pair table table_array_element rule_set")


def head_row(node: Node) -> int:
    """Return the 0-based row where a definition begins, below annotations inside its node."""
    return _head(node).start_point[0]


def signature_of(node: Node) -> str | None:
    """Return the head of a definition in one line of at most 200 characters.

    `pub fn parse<T>(input: &str) -> T where T: Node`, without the body and what opens it.
    """
    if node.type in _DATA:
        return None
    start = _head(node).start_byte - node.start_byte
    data = _keyword_before(node) + (node.text or b"")[start : start + _MAX_BYTES]
    body = _body_of(node)
    if body is not None and body.start_byte > node.start_byte + start:
        data = data[: len(_keyword_before(node)) + body.start_byte - node.start_byte - start]
    else:
        data = data.lstrip().split(b"\n", 1)[0]
    head = _COMMENT_LINES.sub("", data.decode("utf-8", "replace"))
    head = _OPENERS.sub("", _BLANKS.sub(" ", head).strip())
    return (head if len(head) <= _MAX_CHARS else head[: _MAX_CHARS - 3] + "...") or None


def _keyword_before(node: Node) -> bytes:
    """Return the `const` that a declaration in JavaScript has outside of its own node."""
    if node.type != "variable_declarator" or node.parent is None:
        return b""
    return (node.parent.text or b"")[: max(node.start_byte - node.parent.start_byte, 0)][
        :_MAX_BYTES
    ]


def _head(node: Node) -> Node:
    """Return the first child that is no annotation, or the node itself."""
    first = node.named_children[0] if node.named_children else None
    if first is None or first.start_byte != node.start_byte:
        return node
    if first.type == "modifiers":
        return _after_attributes(first) or _after_attributes(node, skip="modifiers") or node
    return (_after_attributes(node) or node) if first.type in _ATTRIBUTES else node


def _after_attributes(node: Node, *, skip: str = "") -> Node | None:
    for child in node.children:
        if child.type not in _ATTRIBUTES and child.type != skip and "comment" not in child.type:
            return child
    return None


def _body_of(node: Node) -> Node | None:
    for holder in (node, node.child_by_field_name("value"), node.child_by_field_name("right")):
        if holder is None:
            continue
        body = holder.child_by_field_name("body")
        if body is None:
            body = next((child for child in holder.named_children if child.type in _BODIES), None)
        if body is not None:
            return body
    return None
