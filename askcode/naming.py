"""Name what a syntax node defines, or say that it defines nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from askcode.definition_nodes import words

# Longer names are selectors or signatures, not names.
_MAX_NAME_CHARS = 80
_MAX_DECLARATORS = 12

_FUNCTION_VALUES = words(
    "arrow_function function function_expression generator_function class function_definition "
    "generator_function_expression"
)
_IDENTIFIERS = words(
    "identifier simple_identifier type_identifier field_identifier name word constant variable "
    "property_identifier symbol atom bareword module_name module_type_name value_name "
    "type_constructor tag "
    "lower_case_identifier upper_case_identifier object_reference package package_name "
    "type_name keyframes_name argument message_name namespace_identifier "
    "class_name constructor_name"
)
_ELIXIR_DEFINERS = words(
    "def defp defmodule defmacro defmacrop defprotocol defimpl defguard defguardp defdelegate "
    "defn defnp test describe"
)
# Broken code makes definitions of these.
_KEYWORDS = words("if else for while switch catch return do try case with")
_SPECS = words("describe it test context suite specify feature scenario shared_examples")
_LISP_DEFINER = re.compile(r"\(\s*(?:cl-|g)?(?:def[\w-]*|define[\w-]*)\s+\(?\s*([^\s()]+)")
_STRUCTS = words("struct_specifier union_specifier enum_specifier class_specifier")
_CLASS_HEAD = re.compile(r"\b(?:class|struct|union|enum)\s+(?:[A-Z_]+\s+)*(\w+)")
_BLANKS = re.compile(r"\s+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")

Namer = Callable[[Node], str]


def name_of(language: str, node: Node) -> str:
    """Return the name a definition node gives, or an empty string when it defines nothing."""
    namer = _NAMERS.get((language, node.type)) or _NAMERS.get(("", node.type)) or _plain_name
    name = clean(namer(node))
    return "" if name in _KEYWORDS else name


def clean(name: str) -> str:
    """Return a name in one line, with a dot between its parts."""
    name = _BLANKS.sub(" ", name).strip(" '\"`")
    name = name.removeprefix("::").replace("::", ".").replace("\\", ".")
    return name if len(name) <= _MAX_NAME_CHARS else name[: _MAX_NAME_CHARS - 3].rstrip() + "..."


def text_of(node: Node | None) -> str:
    """Return the source text of a node, or an empty string."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _field(node: Node, *names: str) -> Node | None:
    for name in names:
        found = node.child_by_field_name(name)
        if found is not None:
            return found
    return None


def _first(node: Node, types: frozenset[str]) -> Node | None:
    return next((child for child in node.named_children if child.type in types), None)


def _plain_name(node: Node) -> str:
    return text_of(_field(node, "name", "pattern") or _first(node, _IDENTIFIERS))


def _declared_name(node: Node) -> str:
    """Follow the declarators of C down to the name: `static int *(*f)(int)` gives `f`."""
    at = _field(node, "declarator")
    for _ in range(_MAX_DECLARATORS):
        if at is None:
            return ""
        inner = _field(at, "declarator") or next(
            (child for child in at.named_children if child.type.endswith("declarator")), None
        )
        if inner is None:
            break
        at = inner
    if at is not None and at.type in ("reference_declarator", "parenthesized_declarator"):
        at = at.named_children[0] if at.named_children else at
    return _without_type_arguments(text_of(at))


def _without_type_arguments(name: str) -> str:
    owner, keyword, operator = name.partition("operator")
    owner = _TYPE_ARGUMENTS.sub("", owner)
    if not keyword and len(owner.split()) > 1:
        # A macro before the head of a class makes a function of it to the grammar.
        found = _CLASS_HEAD.search(owner)
        owner = found[1] if found else owner.split()[-1]
    return owner + keyword + operator


def _prototype_name(node: Node) -> str:
    at = _field(node, "declarator")
    for _ in range(_MAX_DECLARATORS):
        if at is None:
            return ""
        if at.type == "function_declarator":
            return _declared_name(node)
        at = _field(at, "declarator")
    return ""


def _struct_name(node: Node) -> str:
    name = _field(node, "name")
    return _without_type_arguments(text_of(name)) if _field(node, "body") is not None else ""


def _impl_name(node: Node) -> str:
    return _without_type_arguments(text_of(_field(node, "type")).split("<")[0])


def _go_method_name(node: Node) -> str:
    receiver = text_of(_field(node, "receiver")).strip("()")
    kind = _TYPE_ARGUMENTS.sub("", receiver).split()[-1:] or [""]
    return f"{kind[0].lstrip('*')}.{text_of(_field(node, 'name'))}"


def _js_variable_name(node: Node) -> str:
    value = _field(node, "value")
    if value is None:
        return ""
    is_wide = node.end_point[0] > node.start_point[0] and _is_at_top(node)
    return text_of(_field(node, "name")) if value.type in _FUNCTION_VALUES or is_wide else ""


def _is_at_top(node: Node) -> bool:
    parent = node.parent.parent if node.parent is not None else None
    return parent is not None and parent.type in ("program", "export_statement")


def _js_pair_name(node: Node) -> str:
    value = _field(node, "value")
    named = value is not None and value.type in _FUNCTION_VALUES
    return text_of(_field(node, "key")).strip("'\"") if named else ""


def _js_field_name(node: Node) -> str:
    value = _field(node, "value")
    named = value is not None and value.type in _FUNCTION_VALUES
    return text_of(_field(node, "name", "property")) if named else ""


def _js_assigned_name(node: Node) -> str:
    left, right = text_of(_field(node, "left")), _field(node, "right")
    if right is None or len(left) > _MAX_NAME_CHARS:
        return ""
    if right.type in _FUNCTION_VALUES or (left == "module.exports" and right.type == "object"):
        return left.replace(".prototype.", ".")
    return ""


def _spec_name(node: Node) -> str:
    """Take what a test says of itself: `it("sends JSON", () => ...)`, `describe Parser do`."""
    callee = text_of(_field(node, "function", "method"))[:40].split(".")[0]
    arguments = _field(node, "arguments")
    if callee not in _SPECS or arguments is None or node.start_point[0] == node.end_point[0]:
        return ""
    first = arguments.named_children[0] if arguments.named_children else None
    return text_of(first).strip("'\"`:") if first is not None else ""


def _elixir_name(node: Node) -> str:
    kind = text_of(_field(node, "target"))
    arguments = next((child for child in node.named_children if child.type == "arguments"), None)
    if kind not in _ELIXIR_DEFINERS or arguments is None or not arguments.named_children:
        return ""
    head = arguments.named_children[0]
    while head.type == "binary_operator" and head.named_children:
        head = head.named_children[0]  # the guard stands to the right of `when`
    if head.type == "call":
        head = _field(head, "target") or head
    return text_of(head).strip('"')


def _lisp_name(node: Node) -> str:
    found = _LISP_DEFINER.match(text_of(node)[:200])
    return found[1].lstrip("':#") if found else ""


def _hcl_name(node: Node) -> str:
    labels = []
    for child in node.named_children:
        if child.type not in ("identifier", "string_lit"):
            break
        labels.append(text_of(child).strip('"'))
    return ".".join(labels)


def _key_name(node: Node) -> str:
    key = _field(node, "key") or (node.named_children[0] if node.named_children else None)
    return text_of(key).strip("'\"")


def _head_name(node: Node) -> str:
    """Take what stands before the braces: the selectors of a CSS rule, the media query."""
    return text_of(node)[:400].split("{", 1)[0]


def _make_name(node: Node) -> str:
    targets = text_of(_first(node, frozenset({"targets"}))) or _plain_name(node)
    return "" if targets.startswith(".PHONY") else targets


def _stage_name(node: Node) -> str:
    words = text_of(node).split()
    return words[3] if len(words) > 3 and words[2].lower() == "as" else "".join(words[1:2])


def _table_name(node: Node) -> str:
    return text_of(node.named_children[0]) if node.named_children else ""


def _bound_name(node: Node) -> str:
    """Take the name of OCaml's first binding: `let rec f x = ... and g y = ...` gives `f`."""
    for child in node.named_children:
        if child.type.endswith("_binding") or child.type.endswith("_declaration"):
            return text_of(_field(child, "pattern", "name") or _first(child, _IDENTIFIERS))
    return _plain_name(node)


def _haskell_name(node: Node) -> str:
    if node.type == "instance":
        return text_of(node)[:200].split("\n")[0].removeprefix("instance").split("where")[0]
    head = next((child for child in node.named_children if child.type == "class_head"), None)
    if head is not None:
        return text_of(_field(head, "class") or head)
    return _plain_name(node)


def _julia_name(node: Node) -> str:
    head = node.named_children[0] if node.named_children else None
    if node.type == "assignment" and (head is None or head.type != "call_expression"):
        return ""
    name = _field(node, "name")
    found = re.match(r"[\w.!@]+", text_of(name if name is not None else head))
    return found[0] if found else ""


def _r_name(node: Node) -> str:
    left, right = _field(node, "name", "lhs"), _field(node, "value", "rhs")
    is_function = right is not None and right.type == "function_definition"
    return text_of(left) if is_function else ""


def _objc_method_name(node: Node) -> str:
    head = re.sub(r"\([^()]*\)|[{;].*", "", text_of(node)[:400], flags=re.DOTALL)
    parts = re.findall(r"(\w+)\s*(:)?", head)
    return "".join(f"{word}:" for word, colon in parts if colon) or (parts[0][0] if parts else "")


def _fortran_name(node: Node) -> str:
    found = re.search(
        r"\b(?:subroutine|function|program|module|submodule|type)\b[\s,\w()]*?(?:::)?\s*\b(\w+)\s*(?:\(|$)",
        text_of(node)[:400].split("\n")[0],
        re.IGNORECASE,
    )
    return found[1] if found else ""


def _elm_name(node: Node) -> str:
    left = _field(node, "functionDeclarationLeft")
    return _plain_name(node) if left is None else text_of(_first(left, _IDENTIFIERS))


def _package_name(node: Node) -> str:
    words = text_of(node).rstrip(";{} \n").split()
    return words[1] if len(words) > 1 else ""


def _companion_name(node: Node) -> str:
    return (
        text_of(_field(node, "name") or _first(node, frozenset({"type_identifier"}))) or "Companion"
    )


def _indexer_name(node: Node) -> str:
    return "this[]"


_NAMERS: dict[tuple[str, str], Namer] = {
    **{(lang, "declaration"): _prototype_name for lang in ("c", "cpp", "objc")},
    **{(lang, "field_declaration"): _prototype_name for lang in ("cpp", "objc")},
    **{
        (lang, kind): _declared_name
        for lang in ("c", "cpp", "objc")
        for kind in ("function_definition", "type_definition")
    },
    **{("", kind): _struct_name for kind in _STRUCTS},
    ("objc", "method_definition"): _objc_method_name,
    ("objc", "method_declaration"): _objc_method_name,
    ("rust", "impl_item"): _impl_name,
    ("go", "method_declaration"): _go_method_name,
    ("c_sharp", "indexer_declaration"): _indexer_name,
    **{
        (lang, kind): namer
        for lang in ("javascript", "typescript", "tsx")
        for kind, namer in (
            ("variable_declarator", _js_variable_name),
            ("pair", _js_pair_name),
            ("call_expression", _spec_name),
            ("assignment_expression", _js_assigned_name),
            ("field_definition", _js_field_name),
            ("public_field_definition", _js_field_name),
        )
    },
    ("elixir", "call"): _elixir_name,
    **{("commonlisp", kind): _lisp_name for kind in ("list_lit",)},
    **{
        ("elisp", kind): _lisp_name
        for kind in ("function_definition", "macro_definition", "special_form", "list")
    },
    ("hcl", "block"): _hcl_name,
    ("json", "pair"): _key_name,
    ("yaml", "block_mapping_pair"): _key_name,
    ("toml", "table"): _table_name,
    ("toml", "table_array_element"): _table_name,
    **{
        (lang, kind): _head_name
        for lang in ("css", "scss")
        for kind in (
            "rule_set",
            "media_statement",
            "keyframes_statement",
            "supports_statement",
            "at_rule",
            "mixin_statement",
            "function_statement",
        )
    },
    ("make", "rule"): _make_name,
    ("dockerfile", "from_instruction"): _stage_name,
    **{
        (lang, kind): _bound_name
        for lang in ("ocaml", "ocaml_interface")
        for kind in (
            "value_definition",
            "type_definition",
            "module_definition",
            "class_definition",
            "exception_definition",
        )
    },
    **{("haskell", kind): _haskell_name for kind in ("class", "instance")},
    **{
        ("julia", kind): _julia_name
        for kind in (
            "function_definition",
            "short_function_definition",
            "macro_definition",
            "assignment",
            "struct_definition",
            "abstract_definition",
        )
    },
    **{
        ("r", kind): _r_name for kind in ("left_assignment", "equals_assignment", "binary_operator")
    },
    **{
        (lang, kind): _fortran_name
        for lang in ("fortran", "fixed_form_fortran")
        for kind in (
            "program",
            "module",
            "submodule",
            "subroutine",
            "function",
            "derived_type_definition",
        )
    },
    ("elm", "value_declaration"): _elm_name,
    ("perl", "package_statement"): _package_name,
    ("ruby", "call"): _spec_name,
    ("kotlin", "companion_object"): _companion_name,
}
