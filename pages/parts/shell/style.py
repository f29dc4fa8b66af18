"""All the CSS of the pages. The theme's colours stand in .streamlit/config.toml."""

from pages.parts.components.slider import STYLE as SLIDERS

FILLED = "#2f70c4"  # behind white text: 4.96:1, and 3.65:1 on the dark paper
INNER = '[data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]'
RULE = "1px solid rgba(128,128,128,.3)"
NARROW = "640px"  # of the screen: below it each row of a table is a block

PAGE = """
.stMainBlockContainer {padding: 4rem 2.5rem 3rem}
.stMainBlockContainer h1 {font-size: 1.45rem; padding: 0}
[data-stale="true"] {opacity: 1 !important; transition: none !important}  /* fading repaints the whole page */
[data-testid="stCaptionContainer"] {  /* the theme's grey is too faint for small print; links keep their own colour */
  color: color-mix(in srgb, currentColor 80%, transparent); opacity: 1
}
:is([data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"]):enabled,
[data-testid="stMultiSelect"] [data-tag]
  {background-color: FILLED; border-color: FILLED}  /* white on the dark theme's own colour is too faint */
[data-testid="stMultiSelect"] [role="group"]:has(input:focus-visible) {outline: 2px solid currentColor}
[data-testid="stColumn"] {min-width: min(100%, 17rem)}  /* narrower ones go below each other */
:is(.st-key-beside, .st-key-fan) > INNER {min-width: min(100%, 24rem)}  /* charts with labels at their right */
.stHorizontalBlock.st-key-choices {gap: .5rem 1.2rem}
.st-key-choices > .stElementContainer > .stButtonGroup {  /* each name beside its buttons: one row under the chart */
  display: flex; align-items: center; gap: .5rem
}
.st-key-choices > .stElementContainer [data-testid="stWidgetLabel"] {margin: 0; min-height: 0; white-space: nowrap}
.stElementContainer:is(.st-key-history, .st-key-board) {position: absolute}  /* nothing is seen: it takes no row */
.st-key-classroom [data-testid="stPopoverButton"] {color: inherit}  /* the theme's own is too faint while it is open */
[class*="st-key-halves"] > INNER, [class*="st-key-progress"] > INNER {min-width: 0}
"""
TWO_COLUMNS = """
@media (min-width: 900px) {  /* the controls stay in sight, and scroll by themselves where they are taller */
  .st-key-page > INNER {min-width: 0; flex: 1 1 0}
  .st-key-page > INNER:first-child {
    flex: 0 0 clamp(17rem, 23vw, 21rem); position: sticky; top: 4rem; max-height: calc(100vh - 4.2rem);
    overflow-y: auto; scrollbar-width: thin; padding-bottom: .5rem
  }
}
@media (max-width: 899px) {  /* one column: the chart stays in sight while the controls scroll under it */
  .stMainBlockContainer {padding: 4rem 1rem 3rem}
  .st-key-page > INNER {min-width: 100%}
  .st-key-page [data-testid="stHorizontalBlock"] *:has(.st-key-in_sight) {display: contents}
  .st-key-page .st-key-in_sight {
    order: -1; position: sticky; top: 3.75rem; z-index: 5; min-width: 100%; max-height: 55vh; overflow-y: auto;
    background: light-dark(#fff, #171614)
  }
}
"""
FORM = """
:has(> .st-key-start) {position: sticky; top: 0; z-index: 4}  /* its wrapper: within that it has no room to stick */
.st-key-start {background: light-dark(#fff, #171614); padding-bottom: .4rem}
.st-key-start [data-testid="stTooltipIcon"] {margin: 0 .3rem}  /* a finger needs 24 pixels */
[class*="st-key-halves"] [data-testid="stWidgetLabel"] {min-height: 0; margin-bottom: .1rem}
[class*="st-key-halves"] [data-testid="stSelectbox"] input {padding-left: .4rem; padding-right: 0; font-size: .875rem}
[class*="st-key-halves"] [data-testid="stSelectbox"] button {padding: 0 .3rem 0 0}
"""
NUMBERS = """
.stHorizontalBlock[class*="_number"] {flex-wrap: wrap; gap: .25rem .8rem}
.stHorizontalBlock[class*="_number"] > .stElementContainer:has(> .stMarkdown) {flex: 1 0 100%}  /* the label */
.stHorizontalBlock[class*="_number"] > [class*="_slider"] {flex: 1 1 7rem; min-width: 7rem}  /* beside its field */
"""
STEP = """
.step-shown {display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem 2rem; margin: 0}
.step-shown > li {animation: stage .6s both; animation-delay: calc(var(--turn) * 1.6s)}
.squares {display: grid; grid-template-columns: repeat(20, 1fr); gap: 2px; margin-top: .4rem}
.squares i {aspect-ratio: 1; border: 1px solid #808080; border-radius: 2px}
.squares .in {background: #2469a6}
.bar {margin-top: .3rem}
.bar span {
  display: block; height: .5rem; border-radius: 2px; background: var(--color); width: calc(var(--to) * 100%);
  animation: length .9s both; animation-delay: calc(var(--turn) * 1.6s + .5s)
}
@keyframes stage {from {opacity: 0}}
@keyframes length {from {width: calc(var(--from) * 100%)}}
@media (prefers-reduced-motion: reduce) {.step-shown > li, .bar span {animation: none}}
"""
TABLES = """
.scrolling {overflow-x: auto}
.verdicts, .attack {width: 100%; border-collapse: collapse; font-size: .95rem}
:is(.verdicts, .attack) :is(th, td) {padding: .45rem .7rem; text-align: left; border-bottom: RULE}
.verdicts .number, .attack td, .attack thead th + th {text-align: right; font-variant-numeric: tabular-nums}
.verdicts .number, .attack td {white-space: nowrap}
.verdicts thead .number {white-space: normal}
.verdicts td.verdict {min-width: 12rem}
.attack .own {font-weight: 600}
p.verdict {margin: 0}
.verdicts.papers th small {display: block; font-weight: 400; opacity: .85}
.verdicts.papers :is(th, td) {padding: .3rem .5rem; vertical-align: top}
.verdicts.papers .ways a {display: inline-block; margin-right: .5em; padding: .1rem 0}
@media (min-width: 641px) {.verdicts.papers tbody th {min-width: 13rem}}
@media (min-width: 1200px) {.verdicts.papers tbody th {width: 32%} .verdicts.papers .ways {white-space: nowrap}}
ul.areas {padding: 0; list-style: none}
.areas i {display: inline-block; width: 1em; height: 1em; margin-right: .5em; vertical-align: -.1em}
.verdicts.audits :is(th, td) {vertical-align: top}
.verdicts.audits tbody small {display: block; font-weight: 400; opacity: .85}
@media (min-width: 641px) {.verdicts.audits tbody th {min-width: 14rem} .verdicts.audits td {white-space: normal}}
.verdicts.findings :is(td, th) {font-weight: 400; vertical-align: top}
.verdicts.findings tbody th {min-width: 9rem}
.paper-head h2 {font-size: 1.1rem; margin: 0; padding: 0}
.remarks {margin: 0}
.remarks li {margin-bottom: .3rem}
.line {white-space: pre}
.line::before {content: attr(data-line)}
p.read {white-space: pre-wrap; overflow-wrap: anywhere; max-height: 16rem; overflow-y: auto}
.read sub {margin: 0 .3em; opacity: .85}
b.sign {display: inline-block; width: 1.2em}
@media (max-width: NARROW) {
  :is(.verdicts, .attack) thead {display: none}
  :is(.verdicts, .attack) tr {display: block; padding: .5rem 0; border-bottom: RULE}
  :is(.verdicts, .attack) :is(th, td) {display: block; border: 0; padding: .1rem 0}
  .verdicts .number {text-align: left}
  .verdicts td[data-label]::before {content: attr(data-label) ": "; opacity: .8}
  .attack td::before {content: attr(data-label); float: left; font-weight: 400; opacity: .8}
}
"""
PICTURES = """
.part {font-size: 1.2rem; font-weight: 600; margin: .5rem 0; padding: 0}
.measures {border-collapse: collapse; font-size: .95rem}
.measures :is(th, td) {
  padding: .35rem .6rem; border-bottom: RULE; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums
}
.measures :is(thead, tbody) th:first-child {text-align: left; white-space: normal; min-width: 9rem}
.pictures {table-layout: fixed; width: 100%; min-width: 36rem}
.pictures :is(th, td) {padding: .25rem .2rem; text-align: center; font-size: .85rem; font-weight: 400}
.pictures tbody th {text-align: left}
.pictures figure {margin: 0}
.pictures img {image-rendering: pixelated; display: block; margin: 0 auto; max-width: 100%; height: auto}
"""
RUNS = """
.measured {border-collapse: collapse; font-size: .9rem}
.measured :is(th, td) {padding: .35rem .7rem; border-bottom: RULE; text-align: left; vertical-align: top}
.measured td {overflow-wrap: anywhere; min-width: 7rem; max-width: 20rem; white-space: pre-line}
.measured tbody th {font-weight: 400; white-space: nowrap}
.run-key {font-size: .9rem; line-height: 1.5}
.run-key > span {display: inline-block; margin-right: 1.4em}
"""
# A word that explains itself opens beside itself where the browser can anchor it, else in the middle of the screen.
WORDS = """
.term {anchor-scope: --term}
.term > button {
  all: unset; anchor-name: --term; cursor: help; font: inherit; color: inherit;
  text-decoration: underline dotted; text-underline-offset: .2em
}
.term > button:focus-visible {outline: 2px solid currentColor; outline-offset: 2px; border-radius: 2px}
.term > [popover] {
  max-width: min(24rem, 92vw); padding: .6rem .8rem; border: RULE; border-radius: .5rem; box-shadow: 0 2px 12px #0004;
  background: Canvas; color: CanvasText;
  font-size: .9rem; font-weight: 400; line-height: 1.45; text-align: left; white-space: normal
}
.kept {white-space: nowrap}
.term small {display: block; margin-top: .3rem; opacity: .85}
@supports (anchor-scope: --term) {
  .term > [popover] {
    position: fixed; position-anchor: --term; inset: auto; margin: 0;
    position-area: bottom span-right; position-try-fallbacks: flip-inline, flip-block, flip-block flip-inline
  }
  @media (hover: hover) {.term:hover > [popover] {display: block; z-index: 1000}}
}
.legend, .on-screen {margin: 0; font-size: .9rem}
.legend > span {margin-right: .9em; white-space: nowrap}
.odds {display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .9rem; margin: 0 0 .3rem}
.people {flex: none; width: 13rem}
.odds figcaption {flex: 1 1 14rem; font-size: .95rem}
.promise {font-size: .9rem}
.promise summary {cursor: pointer; padding: .15rem 0}
.promise ul {margin: .3rem 0 0; padding-left: 1.3rem}
"""
# In the row of the menu: what stands there is out of the page's flow, and leaves no gap in it.
MENU_ROW = """
:has(> .st-key-present_place), :has(> .st-key-lesson_menu) {position: absolute}
.st-key-present_place, .st-key-lesson_menu {position: fixed; z-index: 999991; width: auto}
.st-key-present_place {top: .8rem; right: 4.5rem}
.st-key-lesson_menu {top: .6rem; right: 10rem}
.st-key-lesson_panel {border-color: #808080}
@media (max-width: 899px) {  /* where the chart stands above the controls, the lesson stands above the chart */
  .st-key-page [data-testid="stHorizontalBlock"] *:has(.st-key-lesson_panel) {display: contents}
  .st-key-page .st-key-lesson_panel {order: -2; min-width: 100%}
}
"""
LARGE = """
html {font-size: 18px !important}
.stMainBlockContainer {padding-left: 1.5rem; padding-right: 1.5rem}
"""

CHARTS = """
.stPlotlyChart .main-svg > :not(.hoverlayer) text:not([style*="fill: rgb(255, 255, 255)"])
  {fill: currentColor !important}  /* the theme's grey is too faint for the text of a chart; white stands on a map */
"""


def style_sheet(*, present: bool = False) -> str:
    """The HTML that carries the styles; every page begins with it."""
    sheets = (PAGE, TWO_COLUMNS, FORM, SLIDERS, NUMBERS, STEP, TABLES, PICTURES, RUNS, WORDS, MENU_ROW, CHARTS)
    css = "".join(sheets) + (LARGE if present else "")
    for name, value in {"FILLED": FILLED, "INNER": INNER, "RULE": RULE, "NARROW": NARROW}.items():
        css = css.replace(name, value)
    return f"<style>{css}</style>"
