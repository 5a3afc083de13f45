"""The site of the documentation, as built and in Chromium from its files: ``tox -e site`` builds it and runs this.

``AGENT_HOOKS_SITE`` names the folder of the site.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

SITE = Path(os.environ["AGENT_HOOKS_SITE"])
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if path != SITE / "index.html")
DOCS = Path(__file__).parent.parent / "docs"
PHONE = 360
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Opens each page in a frame as wide as a phone; writes down how wide it became, and its colours by theme.
LOOK = """<!doctype html><pre id="seen"></pre><script>
const seen = {}, pages = PAGES;
async function look(page) {
  const frame = document.createElement("iframe");
  Object.assign(frame, {src: page, width: PHONE, height: 700});
  document.body.append(frame);
  await new Promise((loaded) => { frame.onload = loaded; });
  const {documentElement, body, defaultView} = frame.contentDocument;
  const scrolling = [documentElement, ...body.querySelectorAll(".content")];
  seen[page] = {width: Math.max(...scrolling.map((element) => element.scrollWidth))};
  for (const theme of ["auto", "light", "dark"]) {
    body.dataset.theme = theme;
    const style = defaultView.getComputedStyle(body);
    seen[page][theme] = [style.backgroundColor, style.color];
  }
  frame.remove();
}
onload = async () => {
  for (const page of pages) await look(page);
  document.getElementById("seen").textContent = JSON.stringify(seen);
  document.title = "done";
};
</script>"""


# -- links, captions, navigation ---------------------------------------------------------------------------------------


def read(page):
    return (SITE / page).read_text(encoding="utf-8")


def test_the_captions_of_blocks_are_seen():
    page = read("docs/hookconf.html")
    assert '<div class="code-block-caption"><span class="caption-text"><code' in page
    assert re.search(r'code-block-caption">.*migrations/hookconf\.py</span></code></span>', page)
    assert ">Output</span>" in page
    assert "Output:" not in page


def test_the_navigation_has_the_sections_of_the_index():
    sidebar = read("docs/tutorial.html").partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    captions = re.findall(r'class="caption-text">([^<]+)<', sidebar)
    sections = re.findall(r"^##+ (.+)", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [caption.removeprefix("How-to guides: ") for caption in captions] == [
        section for section in sections if section != "How-to guides"
    ]


def test_a_file_that_is_no_page_is_linked_in_the_repository():
    assert re.search(r'href="https://[^"]+/tree/main/examples"', read("README.html"))
    assert re.search(r'href="https://[^"]+/blob/main/benchmarks/README\.md"', read("README.html"))


def test_other_sites_can_link_to_a_method():
    inventory = zlib.decompress((SITE / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    assert "agent_hooks.HookOutcome.suspend py:method 1 docs/api/hooks.html#$ -" in inventory.splitlines()


@pytest.mark.parametrize(
    ("link", "said"),
    [("other.md#here", ""), ("other.md#nowhere", "nowhere"), ("another.md", "another"), ("other.py", "other.py")],
)
def test_a_link_that_leads_nowhere_fails_the_build(link, said, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Index\n\n## Pages\n\n[one](other.md) [two]({link})\n", "utf-8")
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## Here\n\nText.\n", "utf-8")
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "-q", "-c", str(DOCS), str(tmp_path), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode != 0) == bool(said), done.stderr
    assert said in done.stderr


# -- in Chromium -------------------------------------------------------------------------------------------------------


def browse(address: str, profile: Path, *options: str) -> str:
    """Return the page as Chromium shows it once its scripts have run."""
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("Chromium is not installed")
    if os.geteuid() == 0:
        options = ("--no-sandbox", *options)  # it does not start otherwise
    command = [chromium, "--headless", "--hide-scrollbars", "--disable-gpu", f"--user-data-dir={profile}", *options]
    command += ["--virtual-time-budget=60000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def looked(profile: Path, prefers_dark: bool) -> dict[str, dict[str, object]]:
    """What a person who prefers dark or light pages sees of each page on a phone."""
    page = SITE / "look.html"
    page.write_text(LOOK.replace("PAGES", json.dumps(PAGES)).replace("PHONE", str(PHONE)), encoding="utf-8")
    try:
        scheme = f"--blink-settings=preferredColorScheme={0 if prefers_dark else 1}"
        # Each file is a site of its own otherwise, and a page cannot measure another one.
        dom = browse(page.as_uri(), profile, "--allow-file-access-from-files", scheme)
    finally:
        page.unlink()
    (seen,) = re.findall(r'<pre id="seen">(.+?)</pre>', dom, re.DOTALL)
    pages: dict[str, dict[str, object]] = json.loads(html.unescape(seen))
    return pages


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    return looked(tmp_path_factory.mktemp("light"), prefers_dark=False)


@pytest.fixture(scope="module")
def dark(tmp_path_factory):
    return looked(tmp_path_factory.mktemp("dark"), prefers_dark=True)


def test_a_search_finds_the_page_and_the_method(tmp_path):
    dom = browse(f"{(SITE / 'search.html').as_uri()}?q=suspend", tmp_path)
    found = re.findall(r'<li class="kind-\w+"><a href="([^"?]+)', dom)
    assert "docs/suspending.html" in found
    assert "docs/api/hooks.html#agent_hooks.HookOutcome.suspend" in found


def test_no_page_scrolls_sideways_on_a_phone(light):
    assert light.keys() == {*PAGES}
    assert {page: seen["width"] for page, seen in light.items() if seen["width"] > PHONE} == {}


def lightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


def test_each_page_is_light_or_dark_as_the_reader_prefers_or_chooses(light, dark):
    for page in PAGES:
        for seen, wanted in ((light, "light"), (dark, "dark")):
            assert seen[page]["auto"] == seen[page][wanted]
            background, text = map(lightness, seen[page]["light"])
            assert background > text + 300
            background, text = map(lightness, seen[page]["dark"])
            assert text > background + 300
