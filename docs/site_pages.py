"""Teaches Sphinx the conventions of these pages, which stay plain Markdown: navigation, captions and links.

The sections of the root document are the navigation: each page that a section links to is in the sidebar, below the
section's title. A paragraph directly above a block that is a code span or ``Output:`` is the block's caption. A link to
a file of the repository that is no page leads to the repository. A type in a signature leads to its own entry.
"""

from __future__ import annotations

import builtins
import os
import sys
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def add_navigation(app: Sphinx, doctree: nodes.document) -> None:
    """Put a hidden toctree into each section of the root document: the pages that it links to, in their order."""
    here = app.env.docname
    if here != app.config.root_doc:
        return
    for section in doctree.findall(nodes.section):
        own = [child for child in section.children if not isinstance(child, nodes.section)]
        links = [link for child in own for link in child.findall(addnodes.pending_xref)]
        pages = list(dict.fromkeys(link["reftarget"] for link in links if link.get("refdomain") == "doc"))
        if not pages or section.parent is doctree:
            continue
        parts = [part for part in (section.parent, section) if part.parent is not doctree]
        caption = ": ".join(part.next_node(nodes.title).astext() for part in parts)
        toctree = addnodes.toctree(
            "",
            parent=here,
            entries=[(None, page) for page in pages],
            includefiles=pages,
            maxdepth=1,
            caption=caption,
            rawcaption=caption,
            glob=False,
            hidden=True,
            includehidden=False,
            numbered=0,
            titlesonly=True,
        )
        section += nodes.compound("", toctree, classes=["toctree-wrapper"])


def add_captions(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001 - the event's arguments
    """Turn the paragraph that captions a block into the caption that the theme shows with it."""
    for block in list(doctree.findall(nodes.literal_block)):
        index = block.parent.index(block)
        above = block.parent[index - 1] if index else None
        if not isinstance(above, nodes.paragraph):
            continue
        if not (len(above) == 1 and isinstance(above[0], nodes.literal)) and above.astext() != "Output:":
            continue
        caption = nodes.caption("", "", *(above.children if above.astext() != "Output:" else [nodes.Text("Output")]))
        parent = block.parent
        parent.remove(above)
        index = parent.index(block)
        parent.remove(block)
        captioned = nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper"])
        parent.insert(index, captioned)
        doctree.set_id(captioned)


def link_files(app: Sphinx, doctree: nodes.document) -> None:
    """Let links to files that are no pages lead to the repository."""
    folder = os.path.dirname(app.env.doc2path(app.env.docname))
    for link in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        if link.get("refdomain") == "doc":
            if link["reftarget"] in app.env.found_docs:
                continue
            path = f"{app.srcdir / link['reftarget']}.md"
        else:
            path = os.path.normpath(os.path.join(folder, link["reftarget"]))
        if os.path.exists(path):
            kind = "tree" if os.path.isdir(path) else "blob"
            address = f"{app.config.repository}/{kind}/main/{os.path.relpath(path, app.srcdir)}"
            link.replace_self(nodes.reference("", "", *link.children, refuri=address, internal=False))


def unlink_builtins(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001 - the event's arguments
    """Leave the names of builtins as they are: ``type`` in a signature is not an attribute of that name."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") == "py" and hasattr(builtins, link["reftarget"]):
            link.replace_self(link.children)


def link_types(
    app: Sphinx,
    env: BuildEnvironment,
    node: addnodes.pending_xref,
    content: nodes.TextElement,
) -> nodes.Element | None:
    """Resolve a type that a signature names without its module; leave types of the standard library as they are."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    module, _, name = target.rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        return content
    python = env.domains.python_domain
    homes = {
        f"{entry.docname}#{entry.node_id}": entry for key, entry in python.objects.items() if key.endswith(f".{name}")
    }
    if len(homes) != 1:
        return None
    (entry,) = homes.values()
    address = app.builder.get_relative_uri(node["refdoc"], entry.docname)
    return nodes.reference("", "", content, refuri=f"{address}#{entry.node_id}", internal=True)


def write_entrance(app: Sphinx, error: Exception | None) -> None:
    """Let the site's own address lead to the root document, which is in a folder."""
    if error is None and app.builder.format == "html":
        page = app.builder.get_target_uri(app.config.root_doc)
        text = f'<!doctype html><meta http-equiv="refresh" content="0; url={page}"><a href="{page}">{page}</a>\n'
        (app.outdir / "index.html").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions above; those for a page come before Sphinx collects its downloads and its toctrees."""
    app.add_config_value("repository", "", "env")
    for function in (link_files, unlink_builtins, add_captions, add_navigation):
        app.connect("doctree-read", function, priority=100)
    app.connect("missing-reference", link_types)
    app.connect("build-finished", write_entrance)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
