/* A Plotly figure whose traces grow with the events of runs. See live_chart.py for what `data` holds. */
import { added, mounted } from "./mounted.js";
import { Following, failing } from "./runs.js";
import { advanced, read, spread } from "./figure_growth.js";
import { table } from "./numbers_table.js";
import { exported, themed } from "./chart_theme.js";
import { fitted, narrowed } from "./labels_below.js";
import { Preview } from "./preview.js";
import { SHARE as IN_FRONT, presented, taller } from "./presented.js";
import { Hatching, marked } from "./hatching.js";

const PAUSE = 100; // ms from one drawing to the next
const SHARE = 2; // and so many times as long as a drawing takes: a busy browser has time for other things
const LATER = 300; // ms for which a chart out of sight leaves its first drawing to those in sight
const KEPT = 4000; // ms for which that line stays when the hand rests
const LEADS = "leads"; // marks the line whose place is kept while a slider is moved
const LABEL = /^<span style="color:(#\w+)">(.*?)<\/span> (.*)$/; // as dpcore's `written` marks a line's label
let plotly = null;

class Chart {
  constructor(parent) {
    this.parent = parent;
    this.following = new Following(() => this.plan());
    this.drawn = 0;
    this.took = 0;
    this.build();
    this.preview = new Preview((drawing) => this.take(drawing), () => this.release(), (waiting) => this.say(waiting));
    this.preview.begins = () => this.keep();
    this.sizes = new ResizeObserver(() => this.box.clientWidth !== this.width && this.plan());
    this.sizes.observe(this.box);
  }

  build() {
    this.box = added(this.parent, "div", { className: "live-chart", role: "figure" });
    this.plot = added(this.box, "div", { className: "live-plot" });
    this.hatching = new Hatching(this.box, () => this.plan(0));
    const foot = added(this.box, "div", { className: "live-foot" });
    this.details = added(foot, "details", { className: "live-numbers", hidden: true, ontoggle: () => this.turn() });
    added(this.details, "summary", { textContent: "Numbers" });
    this.table = added(this.details, "div", { className: "live-table", tabIndex: 0, role: "region" }); // keys scroll it
    this.key = added(foot, "details", { className: "live-key", hidden: true });
    added(this.key, "summary", { textContent: "Key" });
    this.lines = added(this.key, "div");
    this.said = added(foot, "span", { className: "live-said", role: "status" });
    this.offer(added(foot, "span", { className: "live-offer" }));
  }

  /* One button, whose menu has all that can be had of the chart: its numbers, and pictures. */
  offer(place) {
    this.more = added(place, "button", { type: "button", textContent: "⋯", className: "live-more" });
    const menu = added(place, "span", { className: "live-menu", popover: "auto" });
    this.more.popoverTargetElement = menu;
    const choose = (textContent, act) => {
      const onclick = () => {
        menu.hidePopover();
        act();
      };
      added(menu, "button", { type: "button", textContent, onclick });
    };
    choose("Numbers", () => this.open());
    for (const format of ["SVG", "PNG"]) choose(format, () => exported(this, format.toLowerCase()));
  }

  /* Show the numbers, which the keys scroll at once. */
  open() {
    this.details.hidden = false;
    this.details.open = true;
    this.fill();
    this.table.focus();
  }

  /* Shut, the numbers leave no line of their own: the menu opens them again. */
  turn() {
    const { open } = this.details;
    if (!open && this.details.contains(document.activeElement)) this.more.focus();
    this.details.hidden = !open;
    this.fill();
  }

  show({ data, setTriggerValue, setStateValue }) {
    this.tell = (name, value) => setTriggerValue(name, value);
    this.fail = (reason) => setStateValue("failed", reason);
    this.data = data;
    if (!this.drawn) this.plot.style.height = `${data.height}px`; // else what stands below it seems to be in sight
    this.preview.ready(data.preview);
    this.box.ariaLabel = data.alt;
    const named = data.title.split("\n")[0] || data.name; // no two regions, and no two buttons, have one name
    this.table.ariaLabel = `Numbers: ${named}`;
    this.more.ariaLabel = this.more.title = `Numbers and pictures: ${named}`;
    if (!this.figure || !this.preview.ahead) this.take(data);
  }

  /* What the page has drawn while a slider was moved. */
  release() {
    this.forgetting = setTimeout(() => {
      this.before = undefined;
      this.plan();
    }, KEPT);
    if (this.data && !this.closed) this.take(this.data);
  }

  /* Show a figure, unless it is the one that is shown, which may have grown since. */
  take({ figure, following }) {
    const drawing = figure + JSON.stringify(following);
    if (drawing !== this.shown) {
      this.shown = drawing;
      this.figure = read(figure);
      this.items = following.map((each) => ({ ...each, seen: each.after }));
    }
    this.following.attend(this.items);
    plotly ??= import(new URL(this.data.plotly, location.origin)); // once for the page
    plotly.then(() => this.plan(this.drawn ? 0 : this.pause()), (error) => this.fail(String(error)));
  }

  close() {
    clearTimeout(this.planned);
    clearTimeout(this.forgetting);
    this.closed = true;
    this.preview.close();
    this.hatching.close();
    this.sizes.disconnect();
    globalThis.Plotly?.purge(this.plot);
  }

  /* Milliseconds to the next drawing, which is not to come too soon after the last one. */
  pause() {
    if (!this.drawn) return this.box.getBoundingClientRect().top < innerHeight ? 0 : LATER;
    return Math.max(this.drawn + Math.max(PAUSE, SHARE * this.took) - performance.now(), 0);
  }

  /* Draw with the next frame after a pause. */
  plan(soonest = this.pause()) {
    if (this.closed || !globalThis.Plotly) return;
    if (this.planned && soonest) return;
    clearTimeout(this.planned);
    this.planned = setTimeout(() => requestAnimationFrame(() => {
      this.planned = 0;
      if (!this.closed) this.draw();
    }), soonest);
  }

  draw() {
    const grown = this.items.filter((each) => advanced(this.figure, each, this.following.news(each)));
    const width = this.width = this.box.clientWidth;
    if (!width) return; // not to be seen: the observer of sizes says when it is
    this.drawn = performance.now();
    const low = this.data.fits && innerWidth < 900; // there it stays in sight, as style.css says
    const own = this.data.presented ? presented(this.figure.layout) : this.figure.layout;
    const most = this.data.presented ? taller(this.data.height) : this.data.height;
    const height = this.data.fits ? fitted(own, most, width, low, this.data.share ?? IN_FRONT) : most;
    this.hatching.hatch(this.figure.data);
    const layout = this.whole = spread({ ...own, width, height }, this.plot, (name) => this.hatching.has(name));
    layout.datarevision = this.drawn;
    layout.uirevision ??= "kept"; // what the reader has zoomed stays
    const { layout: fitting, key } = narrowed(layout, width, low);
    this.list(key, low);
    this.plot.style.height = `${fitting.height}px`;
    const look = themed(fitting, this.parent.firstElementChild);
    if (matchMedia("(pointer: coarse)").matches) look.dragmode = false; // a finger scrolls the page
    globalThis.Plotly.react(this.plot, [...this.where(), ...this.figure.data], look, { displayModeBar: false });
    if (!this.listens && this.plot.on) {
      this.listens = true;
      this.plot.on("plotly_click", ({ points: [point] }) => this.data.clicks && this.tell("clicked", [point.x, point.y]));
      this.plot.on("plotly_relayout", () => this.hatching.lay(this.plot.layout, this.plot)); // a reader has zoomed
    }
    this.hatching.lay(fitting, this.plot);
    this.box.dataset.drawings = Number(this.box.dataset.drawings ?? 0) + 1;
    if (grown.length) this.fill();
    this.say();
    this.took = performance.now() - this.drawn;
  }

  /* Keep the leading line as it is where a drag begins, unless that of a drag just before is still there. */
  keep() {
    clearTimeout(this.forgetting);
    this.before ??= this.figure?.data.find(({ meta }) => meta === LEADS);
  }

  where() {
    if (!this.before) return [];
    return [{ ...this.before, uid: "before", fill: "none", opacity: 0.45, hoverinfo: "skip", line: { ...this.before.line, dash: "dot" } }];
  }

  /* Write the labels for which the chart has no room into the key, which can be shut where the chart stays in sight. */
  list(key, low) {
    this.key.classList.toggle("open", !low);
    if (low !== this.low) this.key.open = !low;
    this.low = low;
    this.key.hidden = !key.length;
    this.lines.replaceChildren(...key.map(({ text, name }) => {
      const [, color, glyph, words] = text.match(LABEL) ?? [, "", "", text];
      const line = document.createElement("p");
      const drawn = added(line, "span", { className: "line", ariaHidden: "true" }); // as `drawn_line` of tables.py
      drawn.dataset.line = glyph;
      drawn.style.color = color;
      line.append(` ${words.replaceAll("<br>", " ")}`);
      return this.hatching.has(name) ? marked(line, name) : line;
    }));
  }

  /* What the reader must know of the runs. */
  say(waiting = false) {
    const all = [...this.following.runs.values()];
    const away = all.length && failing() ? "The server does not answer." : waiting ? "Waiting for the server …" : "";
    const sentence = all.find((each) => each.unknown)?.unknown ?? away;
    if (this.said.textContent !== sentence) this.said.textContent = sentence;
  }

  fill() {
    if (this.details.open) this.table.replaceChildren(table(this.figure, this.data));
  }
}

export default mounted(Chart);
