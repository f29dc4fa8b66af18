/* The events of runs, followed over one connection however many parts of the page show them.

   follow(run, after, heard) begins to follow a run from behind the event of that number, and calls heard() whenever
   something has come. What came stands in the returned object:
     events    [{number, body}], each event once, in order
     status    the latest {run, status, position, cancelling, words, starts}, or null
     ended     whether the run has ended and all its events are here
     unknown   the server's sentence where it knows no such run, else ""
     failing   whether the server could not be reached since the page was opened
   stop(followed, heard) ends it.

   A part of the page that shows several runs has one Following of them. */

const MAX_RUNS = 32; // runs in the connection, as the server allows: MAX_RUNS_FOLLOWED of routes.py
const LAST = 999_999_999_999; // after every event
const SLEPT = 20_000; // ms between two ticks after which the machine has slept, and the connection may be dead
const runs = new Map();
let connection = { ids: [] }; // {ids, source}
let failures = 0; // in a row
let reached = false; // once
let planned = { timer: 0, due: Infinity }; // the next look at who is followed
let ticked = Date.now();

export function follow(run, after, heard) {
  let followed = runs.get(run);
  if (!followed) {
    followed = { run, last: after, events: [], status: null, ended: false, unknown: "", listeners: new Map() };
    Object.defineProperty(followed, "failing", { get: () => !reached && failures > 2 });
    runs.set(run, followed);
  }
  followed.listeners.set(heard, after);
  const first = Math.min(...followed.listeners.values());
  const begins = followed.events.length ? followed.events[0].number - 1 : followed.last;
  if (after < begins) { // what this listener lacks was thrown away, or never asked for
    followed.events = [];
    followed.last = after;
    followed.ended = false;
    if (connection.ids.includes(run)) close();
  } else if (first > begins) {
    followed.events = followed.events.filter((each) => each.number > first);
  }
  plan(0);
  return followed;
}

export function stop(followed, heard) {
  followed.listeners.delete(heard);
  plan(1000); // a page that is drawn anew follows again at once
}

/* The runs that one part of the page follows, by their ids; `heard` is called whenever one of them has said something. */
export class Following {
  constructor(heard) {
    this.heard = heard;
    this.runs = new Map();
  }

  /* Follow the runs of these items, {run, after}, each from behind the earliest of its events, and no others. */
  attend(items) {
    const first = new Map();
    for (const { run, after } of items) if (run) first.set(run, Math.min(after, first.get(run) ?? Infinity));
    for (const [run, followed] of this.runs) if (!first.has(run)) {
      stop(followed, this.heard);
      this.runs.delete(run);
    }
    for (const [run, after] of first) this.runs.set(run, follow(run, after, this.heard));
  }

  /* What the run of an item, {run, seen}, has said since the item was asked last. */
  news(item) {
    return unseen(item, this.runs.get(item.run)?.events ?? []);
  }
}

/* What of the events the item has not seen; from now on it has. */
export function unseen(item, events) {
  const fresh = events.filter(({ number }) => number > item.seen);
  item.seen = fresh.at(-1)?.number ?? item.seen;
  return fresh.map(({ body }) => body);
}

function plan(delay) {
  const due = Date.now() + delay;
  if (due >= planned.due) return; // sooner already
  clearTimeout(planned.timer);
  planned = { timer: setTimeout(connect, delay), due };
}

/* One connection for the runs that somebody follows and that may still say something. */
function connect() {
  planned = { timer: 0, due: Infinity };
  for (const [run, followed] of runs) if (!followed.listeners.size) runs.delete(run);
  const open = [...runs.values()].filter((each) => !each.ended && !each.unknown).map((each) => each.run);
  if (open.length && open.every((run) => connection.ids.includes(run))) return;
  close();
  if (open.length) listen(open.slice(0, MAX_RUNS)); // the others when one of these has ended
}

function close() {
  connection.source?.close();
  connection = { ids: [] };
}

function address(ids, after) {
  return new URL(`/runs/${ids.join("+")}/events?after=${after.join("+")}`, location.origin);
}

function listen(ids) {
  const source = new EventSource(address(ids, ids.map((run) => runs.get(run).last)));
  connection = { ids, source };
  source.onopen = () => {
    reached = true;
    failures = 0;
  };
  source.onmessage = (message) => {
    const dot = message.lastEventId.lastIndexOf(".");
    const followed = runs.get(message.lastEventId.slice(0, dot));
    const number = Number(message.lastEventId.slice(dot + 1));
    if (!followed || number <= followed.last) return;
    followed.last = number;
    followed.events.push({ number, body: JSON.parse(message.data) });
    tell(followed);
  };
  on(source, "status", (followed, body) => { followed.status = body; });
  on(source, "problem", (followed) => { followed.broken = true; });
  on(source, "end", (followed) => {
    followed.ended = !followed.broken;
    if (followed.broken) retry(source); // the store failed; it may be back
    else plan(0);
    followed.broken = false;
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) ids.forEach(ask); // the answer was no stream
    retry(source);
  };
}

function on(source, name, take) {
  source.addEventListener(name, (message) => {
    const body = JSON.parse(message.data);
    const followed = runs.get(body.run);
    if (!followed) return;
    take(followed, body);
    tell(followed);
  });
}

function tell(followed) {
  for (const heard of [...followed.listeners.keys()]) heard();
}

/* Connect again later, from the last event that came: 1, 2, 4, then every 8 seconds. */
function retry(source) {
  if (connection.source !== source) return;
  close();
  failures += 1;
  runs.forEach(tell);
  plan(1000 * 2 ** Math.min(failures - 1, 3));
}

/* Ask for one run alone, to learn whether the server knows it. */
async function ask(run) {
  const abort = new AbortController();
  try {
    const answer = await fetch(address([run], [LAST]), { signal: abort.signal });
    const followed = runs.get(run);
    if (answer.status === 404 && followed) {
      followed.unknown = await answer.text();
      tell(followed);
      plan(0);
    }
  } catch { /* the server is away: retry says so */ }
  abort.abort();
}

function wake() {
  close();
  plan(0);
}

addEventListener("online", wake);
setInterval(() => {
  const now = Date.now();
  if (now - ticked > SLEPT) wake();
  ticked = now;
}, 5000);
