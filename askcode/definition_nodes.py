"""Which syntax nodes define something, in each language: tables.

Both grammar bundles' names stand side by side where they differ.
"""

from __future__ import annotations

from functools import cache


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set, to write tables that can be read."""
    return frozenset(text.split())


# Node types that have a name of their own.
_DEFINITIONS = {
    "bash": "function_definition",
    "c": "function_definition struct_specifier union_specifier enum_specifier type_definition "
    "preproc_function_def declaration",
    "c_sharp": "namespace_declaration file_scoped_namespace_declaration class_declaration "
    "struct_declaration interface_declaration enum_declaration record_declaration "
    "record_struct_declaration delegate_declaration method_declaration constructor_declaration "
    "destructor_declaration operator_declaration conversion_operator_declaration "
    "property_declaration indexer_declaration event_declaration local_function_statement",
    "commonlisp": "list_lit",
    "cpp": "function_definition struct_specifier union_specifier enum_specifier class_specifier "
    "type_definition alias_declaration namespace_definition concept_definition "
    "preproc_function_def declaration field_declaration",
    "css": "rule_set media_statement keyframes_statement supports_statement at_rule",
    "dockerfile": "from_instruction",
    "elisp": "function_definition macro_definition special_form list",
    "elixir": "call",
    "elm": "type_annotation value_declaration type_declaration type_alias_declaration "
    "port_annotation",
    "erlang": "function_clause fun_decl record_decl type_alias function",
    "fixed_form_fortran": "program module submodule subroutine function derived_type_definition",
    "fortran": "program module submodule subroutine function derived_type_definition",
    "go": "function_declaration method_declaration type_spec type_alias",
    "hack": "function_declaration class_declaration interface_declaration trait_declaration "
    "enum_declaration method_declaration alias_declaration",
    "haskell": "function bind signature class instance adt newtype data_type type_alias "
    "type_synomym type_synonym type_family",
    "hcl": "block",
    "java": "class_declaration interface_declaration enum_declaration record_declaration "
    "annotation_type_declaration method_declaration constructor_declaration "
    "compact_constructor_declaration",
    "javascript": "function_declaration generator_function_declaration class_declaration "
    "method_definition variable_declarator function_signature pair assignment_expression "
    "field_definition public_field_definition call_expression",
    "json": "pair",
    "julia": "module_definition function_definition short_function_definition struct_definition "
    "macro_definition abstract_definition primitive_definition assignment",
    "kotlin": "class_declaration object_declaration function_declaration companion_object "
    "secondary_constructor type_alias",
    "lua": "function_declaration function_definition_statement local_function_definition_statement "
    "function_statement local_function function",
    "make": "rule define_directive",
    "objc": "function_definition class_interface class_implementation category_interface "
    "category_implementation protocol_declaration method_definition method_declaration "
    "implementation_definition struct_specifier enum_specifier type_definition "
    "preproc_function_def declaration",
    "ocaml": "value_definition type_definition module_definition class_definition "
    "module_type_definition exception_definition external",
    "ocaml_interface": "value_specification type_definition module_definition "
    "module_type_definition exception_definition external",
    "perl": "function_definition subroutine_declaration_statement method_declaration_statement "
    "package_statement",
    "php": "function_definition class_declaration interface_declaration trait_declaration "
    "enum_declaration method_declaration namespace_definition",
    "python": "function_definition class_definition type_alias_statement",
    "ql": "classlessPredicate dataclass module memberPredicate",
    "r": "left_assignment equals_assignment binary_operator",
    "ruby": "method singleton_method class module call",
    "rust": "function_item function_signature_item struct_item enum_item union_item trait_item "
    "impl_item mod_item macro_definition type_item const_item static_item",
    "scala": "class_definition object_definition trait_definition enum_definition "
    "function_definition function_declaration type_definition given_definition "
    "extension_definition package_object",
    "sql": "create_table create_view create_index create_function create_type create_trigger "
    "create_schema create_procedure create_sequence create_materialized_view "
    "create_function_statement create_table_statement create_type_statement "
    "create_view_statement create_index_statement create_schema_statement "
    "create_trigger_statement",
    "sqlite": "create_table_stmt create_view_stmt create_index_stmt create_trigger_stmt",
    "toml": "table table_array_element",
    "yaml": "block_mapping_pair",
    # In the bundle for later Pythons only.
    "cmake": "function_def macro_def",
    "dart": "class_definition function_signature method_signature enum_declaration "
    "mixin_declaration extension_declaration",
    "graphql": "object_type_definition input_object_type_definition enum_type_definition "
    "interface_type_definition operation_definition fragment_definition",
    "powershell": "function_statement class_statement class_method_definition",
    "proto": "message service enum rpc",
    "scss": "rule_set mixin_statement function_statement media_statement",
    "solidity": "contract_declaration interface_declaration library_declaration "
    "function_definition modifier_definition event_definition struct_declaration",
    "swift": "class_declaration protocol_declaration function_declaration init_declaration "
    "property_declaration protocol_function_declaration typealias_declaration",
    "zig": "function_declaration test_declaration variable_declaration",
}
_TYPESCRIPT = (
    " abstract_class_declaration interface_declaration type_alias_declaration enum_declaration"
    " internal_module module abstract_method_signature"
)

DEFINITIONS = {language: frozenset(types.split()) for language, types in _DEFINITIONS.items()}
DEFINITIONS["typescript"] = DEFINITIONS["javascript"] | frozenset(_TYPESCRIPT.split())
DEFINITIONS["tsx"] = DEFINITIONS["typescript"]

# Nodes that have no name but may hold definitions: bodies, blocks, conditions.
_BODIES = words(
    "ERROR block body statement_block class_body interface_body enum_body enum_body_declarations "
    "annotation_type_body declaration_list field_declaration_list compound_statement statements "
    "if_statement else_clause elif_clause else_if_clause try_statement with_statement "
    "statement_list linkage_specification preproc_if preproc_ifdef preproc_else preproc_elif "
    "preproc_elifdef enum_class_body template_body body_statement do_block block_node "
    "block_mapping document structure function_body implementation_definition declarations "
    "class_declarations instance_declarations internal_procedures let_binding module_binding "
    "module_body message_body service_body contract_body enum_declaration_list module_block "
    "singleton_class cases indented_cases enum_case_definitions object value body_list"
)

# Nodes that only add words to the one definition they hold: the lines of both are its own.
WRAPPERS = words(
    "export_statement decorated_definition template_declaration type_declaration "
    "lexical_declaration variable_declaration ambient_declaration expression_statement "
    "list_lit fun_decl statement create_statement toplevel_item local_declaration "
    "global_statement declaration"
)

# Expressions that hold functions; only scripts of these languages are written so.
_CALLBACKS = words(
    "call_expression arguments arrow_function function function_expression object array "
    "parenthesized_expression return_statement pair variable_declarator assignment_expression "
    "await_expression"
)
_WITH_CALLBACKS = words("javascript typescript tsx")
# Statements would be looked into for nothing.
_PLAIN_STATEMENTS = words("python c cpp java go rust php")
_STATEMENTS = words("expression_statement local_declaration lexical_declaration")


@cache
def transparent(language: str) -> frozenset[str]:
    """Return the node types to look through for definitions."""
    types = _BODIES | WRAPPERS
    if language in _WITH_CALLBACKS:
        types |= _CALLBACKS
    if language in _PLAIN_STATEMENTS:
        types -= _STATEMENTS
    return types


# Nodes that stand before a definition and belong to it, comments aside.
ATTRIBUTES = words(
    "attribute_item inner_attribute_item decorator attribute attribute_list attribute_declaration "
    "annotation marker_annotation modifiers multiline_comment comment line_comment block_comment "
    "documentation_comment haddock unary_operator spec string_literal "
    "attributes attribute_group"
)
# Those that belong to what follows even when blank lines stand between.
DETACHED = words("attribute_item decorator attribute_list annotation modifiers")

# Definitions inside which the same node types mean something else.
LEAVES = words("signature type_definition type_alias adt data_type newtype bind")

# Definitions that reach to the next one, in languages whose grammars end them with the line.
REACHING = frozenset({"dockerfile"})

# What stands between the names of nested definitions, where it is not a dot.
SEPARATORS = {"css": " ", "scss": " "}

# How deep definitions of data files nest before they are mere values.
DATA_DEPTH = {"json": 2, "yaml": 2, "hcl": 1, "toml": 1, "css": 2, "dockerfile": 1, "make": 1}

# Several clauses in a row make one definition: equations, overloads, a type and its value.
CLAUSES = words("haskell elm erlang elixir typescript tsx")

# What a line that is a comment begins with.
_SLASHES = ("//", "/*")
COMMENT_MARKS = {
    **dict.fromkeys(
        words(
            "c cpp c_sharp java javascript typescript tsx go rust kotlin scala objc css scss "
            "less swift dart proto solidity zig groovy hack ql glsl wgsl d v verilog fsharp odin"
        ),
        _SLASHES,
    ),
    "php": (*_SLASHES, "#"),
    "hcl": (*_SLASHES, "#"),
    **dict.fromkeys(
        words(
            "python ruby bash perl r julia elixir yaml toml make dockerfile cmake powershell nix "
            "tcl starlark nim graphql fish gdscript puppet"
        ),
        ("#",),
    ),
    "powershell": ("#", "<#"),
    **dict.fromkeys(words("haskell elm purescript"), ("--", "{-")),
    "lua": ("--",),
    **dict.fromkeys(words("sql sqlite"), ("--", "/*")),
    **dict.fromkeys(words("commonlisp elisp scheme racket clojure"), (";", "#|")),
    **dict.fromkeys(words("ocaml ocaml_interface"), ("(*",)),
    "erlang": ("%",),
    **dict.fromkeys(words("fortran fixed_form_fortran"), ("!", "c ", "C ", "* ")),
}

# The end of a comment of several lines, and its begin.
BLOCK_COMMENTS = {
    **dict.fromkeys((lang for lang, marks in COMMENT_MARKS.items() if "/*" in marks), ("/*", "*/")),
    **dict.fromkeys(words("haskell elm purescript"), ("{-", "-}")),
    "lua": ("--[[", "]]"),
    **dict.fromkeys(words("ocaml ocaml_interface"), ("(*", "*)")),
    "html": ("<!--", "-->"),
    "xml": ("<!--", "-->"),
    "powershell": ("<#", "#>"),
}
