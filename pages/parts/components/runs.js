/* The events of runs, followed over one connection however many parts of the page show them. Each part has a Following of
   its runs; of each run stand there
     events    [{number, body}], each event once, in order
     status    the latest {run, status, active, cancelling, words, said, share}, or null
     ended     whether the run has ended and all its events are here
     unknown   the server's sentence where it knows no such run, else "" */

import { leaving } from "./mounted.js";

const MAX_RUNS = 32; // runs in the connection, as the server allows: MAX_RUNS_FOLLOWED of routes.py
const FRAME = 100; // milliseconds between two looks at what a run that is played again says next
const RETRY = 3000; // milliseconds until a lost connection is made again
const parts = new Set(); // each Following that follows a run
const runs = new Map(); // by id
const connection = { ids: [] }; // with the source, and the timer of the next look at who is followed
const plays = new Map(); // of the runs that are played again: when that began, and how long it takes
let failures = 0; // in a row

/* Whether the server cannot be reached. */
export const failing = () => failures > 2;

/* The runs that one part of the page follows, by their ids; `heard` is called whenever one of them has said something. */
export class Following {
  constructor(heard) {
    this.heard = heard;
    this.runs = new Map();
    this.reported = new Set();
  }

  /* Follow the runs of these items, {run, after}, each from behind the earliest of its events, and no others. */
  attend(items) {
    const first = new Map();
    for (const { run, after } of items) if (run) first.set(run, Math.min(after, first.get(run) ?? Infinity));
    this.runs = new Map([...first].map(([run, after]) => [run, behind(run, after)]));
    this.reported.clear();
    if (first.size) parts.add(this);
    else parts.delete(this);
    plan(0);
  }

  /* What the run of an item, {run, seen}, has said since the item was asked last. */
  news(item) {
    return unseen(item, said(this.runs.get(item.run)));
  }

  /* Have Python draw a run again that it drew in the `known` state, where that has changed: once for each news. */
  report(run, known, tell) {
    const followed = this.runs.get(run);
    if (!followed || leaving()) return;
    const { status, active, cancelling } = followed.status ?? known;
    const same = !active || (status === known.status && cancelling === known.cancelling); // an end follows behind the last event
    const news = followed.unknown ? "unknown" : followed.ended ? "ended" : same ? "" : status;
    if (!news || this.reported.has(run + news)) return;
    this.reported.add(run + news);
    tell(`${run} ${news}`);
  }
}

/* What a run has said; of one that is played again, up to the step whose turn has come. */
function said(followed) {
  const { run, events = [], ended } = followed ?? {};
  const play = plays.get(run);
  if (!play) return events;
  if (!ended) return [];
  play.began ??= performance.now();
  const last = Math.max(...events.map(({ body }) => body.step ?? 0));
  const reached = (last * (performance.now() - play.began)) / play.lasts;
  const still = events.findIndex(({ body }) => (body.step ?? 0) > reached);
  return still < 0 ? events : events.slice(0, still);
}

/* Let those who follow these finished runs hear their events anew, over so many seconds; call `ended` behind the last. */
export function playAgain(ids, seconds, ended) {
  const lasts = 1000 * seconds;
  for (const run of ids) plays.set(run, { lasts });
  const timer = setInterval(() => {
    const playing = ids.filter((run) => !(performance.now() - plays.get(run)?.began > lasts));
    parts.forEach((part) => ids.some((run) => part.runs.has(run)) && part.heard());
    if (playing.length) return;
    clearInterval(timer);
    for (const run of ids) plays.delete(run);
    ended();
  }, FRAME);
}

/* What of the events the item has not seen; from now on it has. */
export function unseen(item, events) {
  const fresh = events.slice(events.findLastIndex(({ number }) => number <= item.seen) + 1);
  item.seen = fresh.at(-1)?.number ?? item.seen;
  return fresh.map(({ body }) => body);
}

/* A run from behind an event on; where another part asked for later events alone, all of them come again. */
function behind(run, after) {
  const followed = runs.get(run) ?? { run, first: Infinity };
  if (after < followed.first) {
    Object.assign(followed, { first: after, last: after, events: [], status: null, ended: false, unknown: "" });
    runs.set(run, followed);
    if (connection.ids.includes(run)) close();
  }
  return followed;
}

function plan(delay) {
  clearTimeout(connection.planned);
  connection.planned = setTimeout(connect, delay);
}

function close() {
  connection.source?.close();
  connection.ids = [];
}

/* One connection for the runs that somebody follows and that may still say something. */
function connect() {
  const wanted = new Set([...parts].flatMap((part) => [...part.runs.keys()]));
  for (const run of [...runs.keys()]) if (!wanted.has(run)) runs.delete(run);
  const open = [...runs.values()].filter((each) => !each.ended && !each.unknown);
  if (open.length && open.every((each) => connection.ids.includes(each.run))) return;
  close();
  const most = open.slice(0, MAX_RUNS); // the others when one of these has ended
  connection.ids = most.map((each) => each.run);
  if (most.length) listen(`/runs/${connection.ids.join("+")}/events?after=${most.map((each) => each.last).join("+")}`);
}

function listen(path) {
  const source = (connection.source = new EventSource(new URL(path, location.origin)));
  const again = () => { // later, from the last event that came: the server or its store is away, or has no place
    close();
    failures += 1;
    parts.forEach((part) => part.heard());
    plan(RETRY);
  };
  const on = (name, take) => source.addEventListener(name, ({ data }) => {
    const body = JSON.parse(data);
    hear(body.run, (followed) => take(followed, body));
  });
  source.onopen = () => { failures = 0; };
  source.onerror = again;
  source.onmessage = ({ lastEventId, data }) => {
    const [run, number] = lastEventId.split(".");
    hear(run, (followed) => {
      followed.last = Number(number);
      followed.events.push({ number: followed.last, body: JSON.parse(data) });
    });
  };
  on("status", (followed, body) => { followed.status = body; });
  on("unknown", (followed, { problem }) => { followed.unknown = problem; });
  on("problem", again);
  on("end", (followed) => {
    followed.ended = true;
    plan(0);
  });
}

function hear(run, take) {
  const followed = runs.get(run);
  if (!followed) return;
  take(followed);
  for (const part of parts) if (part.runs.has(run)) part.heard();
}

addEventListener("online", () => {
  close();
  plan(0);
});
