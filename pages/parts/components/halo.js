/* A halo of two seconds around what a lesson points at. `data` has `place`, the step of the lesson, and the `targets`:
   for each the selectors of which the first that can be seen is meant. A step points once, however often it is drawn.
   Once the page is drawn it is scrolled so far that the targets stand in the window, under the card of the lesson, but the
   large numbers stay in sight if most of a chart is seen with them. Those that find no room together are pointed
   at one after the other. A reader who does anything meanwhile is left alone. */
import { added, mounted } from "./mounted.js";

const SECONDS = 2;
const PATIENCE = 10; // seconds in which a page may be drawn
const HIDDEN = 3; // seconds in which a target may come on a page that is drawn
const GLANCE = 100; // milliseconds between two looks
const STILL = 4; // looks
const OPENING = 600; // milliseconds in which folded settings open
const AROUND = 4; // pixels between a target and its halo
const MARGIN = 12; // and between a target and the end of what scrolls
const LARGE = 200; // pixels: of a chart, not of a control
const MOST = 0.6; // of the height of a chart
const ACTS = ["wheel", "touchmove", "keydown", "pointerdown"];

const found = (selector) => document.querySelector(selector);
const seen = (selectors) => selectors.map(found).find((each) => each?.checkVisibility() && each.offsetHeight > 0);
const drawn = () => Boolean(found("[data-test-script-state=notRunning]"));
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const motion = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth");
const card = () => found(".st-key-lesson_panel");
const sticks = () => [card(), card().parentElement].some((each) => getComputedStyle(each).position === "sticky");

class Halo {
  constructor(parent) {
    added(parent, "span", { hidden: true }); // what it draws lies over the page: this says that it has come
  }

  show({ data }) {
    if (data.place === this.place) return;
    this.close();
    this.place = data.place;
    this.reader = new AbortController(); // aborts once the reader does anything
    this.point(data.targets, this.reader);
  }

  close() {
    document.querySelectorAll(".halo").forEach((each) => each.remove());
    this.reader?.abort();
    this.reader = this.place = undefined;
  }

  async point(targets, reader) {
    const { signal } = reader;
    for (const act of ACTS) addEventListener(act, () => reader.abort(), { signal, capture: true, passive: true });
    const over = () => reader !== this.reader || !card();
    await comes(targets);
    if (!signal.aborted && !over() && targets.filter(unfold).length) await pause(OPENING);
    for (const group of over() ? [] : together(targets)) {
      if (over()) break;
      if (!signal.aborted) bring(group);
      group.forEach(surround);
      await pause(1000 * SECONDS);
    }
    reader.abort();
  }
}

/* Waits until the page is drawn with its targets, and nothing moves them any more. */
async function comes(targets) {
  const since = performance.now();
  let looks = 0; // at a page that is drawn
  let still = 0; // looks at the same places
  let before = "";
  while (still < STILL && performance.now() - since < 1000 * PATIENCE) {
    const things = targets.map(seen);
    const places = things.map((each) => each?.getBoundingClientRect().top).join();
    const complete = drawn() && (things.every(Boolean) || looks * GLANCE > 1000 * HIDDEN);
    if (drawn()) looks += 1;
    still = complete && places === before ? still + 1 : 0;
    before = places;
    await pause(GLANCE);
  }
}

/* Opens the folded settings that hold a target; whether it did. */
function unfold(selectors) {
  const folded = found(selectors[0])?.closest("details:not([open])");
  folded?.querySelector("summary").click();
  return Boolean(folded);
}

/* The targets, each thing once, in groups that find room in the window together, as do those that scroll apart. */
function together(targets) {
  const things = targets.map(seen);
  const groups = [];
  targets.filter((_, place) => things.indexOf(things[place]) === place).forEach((target) => {
    const last = groups.at(-1);
    const scrolled = (group) => spans(group).map(([scroller]) => scroller);
    const apart = () => !scrolled(last).some((each) => scrolled([target]).includes(each));
    if (last && (apart() || spans([...last, target]).every(fits))) last.push(target);
    else groups.push([target]);
  });
  return groups;
}

/* For each part of the page that scrolls by itself, from where to where a group reaches in it. */
function spans(group) {
  const ends = new Map();
  for (const target of group.map(seen)) {
    if (!target) continue;
    const inCard = card().contains(target);
    if (inCard && sticks()) continue; // it is in the window wherever the page is scrolled to
    const scroller = scrollerOf(target);
    const { top, bottom } = (inCard ? card() : target).getBoundingClientRect();
    const [first, last] = ends.get(scroller) ?? [top, bottom];
    ends.set(scroller, [Math.min(first, top), Math.max(last, bottom)]);
  }
  return [...ends];
}

function scrollerOf(target) {
  let each = target.parentElement;
  while (each.parentElement && !["auto", "scroll"].includes(getComputedStyle(each).overflowY)) each = each.parentElement;
  return each;
}

/* Where a target is seen in what scrolls: under the header, and under the card if that stays. */
function room(scroller) {
  const { top, bottom } = scroller.getBoundingClientRect();
  const header = found("[data-testid=stHeader]")?.getBoundingClientRect().bottom ?? 0;
  const under = scroller.contains(card()) && sticks() ? card().offsetHeight : 0;
  return [Math.max(top, header) + under + MARGIN, Math.min(bottom, innerHeight) - MARGIN];
}

function fits([scroller, [top, bottom]]) {
  const [from, to] = room(scroller);
  return bottom - top <= to - from;
}

function bring(group) {
  for (const [scroller, [top, bottom]] of spans(group)) {
    const [from, to] = room(scroller);
    const down = Math.min(bottom - to, top - from); // of a thing that is too high its top is seen
    const chart = alone(group, scroller) && bottom - top > LARGE;
    const free = freely(scroller, from);
    const enough = top + MOST * (bottom - top) - to; // then most of it is seen
    const most = chart && free >= enough ? free : down; // to scroll down
    const by = Math.min(top - from, 0) || Math.max(Math.min(down, most), 0);
    if (by) scroller.scrollBy({ top: by, behavior: motion() });
  }
}

function alone(group, scroller) {
  return group.map(seen).filter((each) => each && scrollerOf(each) === scroller).length === 1;
}

/* How far the large numbers can go up and still be seen. */
function freely(scroller, from) {
  const numbers = found(".st-key-in_sight .headline");
  return scroller.contains(numbers) ? Math.max(numbers.getBoundingClientRect().top - from, 0) : 0;
}

/* Fixed over the page, and following its target: no column cuts it off, and a target may be drawn anew meanwhile. */
function surround(selectors) {
  const halo = added(document.body, "div", { className: "halo", ariaHidden: "true" });
  const until = performance.now() + 1000 * SECONDS;
  const follow = () => {
    if (performance.now() > until || !halo.isConnected) return halo.remove();
    const target = seen(selectors);
    halo.hidden = !target;
    if (!target) return requestAnimationFrame(follow);
    const { left, top, width, height } = target.getBoundingClientRect();
    const [x, y] = [Math.max(left - AROUND, 1), top - AROUND];
    const right = Math.min(left + width + AROUND, document.documentElement.clientWidth - 1);
    Object.assign(halo.style, {
      left: `${x}px`, top: `${y}px`, width: `${right - x}px`, height: `${height + 2 * AROUND}px`, boxSizing: "border-box",
    });
    requestAnimationFrame(follow);
  };
  follow();
}

export default mounted(Halo);
