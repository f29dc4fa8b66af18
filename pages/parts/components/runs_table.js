// A table of runs: some can be ticked, columns sort, and those that are active keep up with their events by themselves.
// Streamlit calls the default export whenever the server says something new about it. See runs_table.py for `data`.

const tables = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let table = tables.get(parentElement);
  if (!table) tables.set(parentElement, (table = new RunsTable(parentElement)));
  table.tell = setTriggerValue;
  table.show(data);
  return () => {
    table.following?.attend([]);
    table.closed = true;
  };
}

class RunsTable {
  constructor(parent) {
    this.box = parent.appendChild(document.createElement("div"));
    this.box.className = "scrolling runs-box";
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "region");
    this.table = this.box.appendChild(document.createElement("table"));
    this.table.className = "runs";
    this.count = Date.now(); // the number of the last tick, of which an earlier table has made none
    this.unheard = []; // ticks that the server has not answered yet
  }

  show(data) {
    this.closed = false;
    this.data = data;
    this.box.setAttribute("aria-label", data.label);
    this.unheard = this.unheard.filter(({ number }) => number > data.heard);
    this.ticked = new Set(data.rows.filter((each) => each.ticked).map((each) => each.id));
    for (const { run, on } of this.unheard) this.set(run, on);
    this.reported = "";
    const kept = document.activeElement?.closest?.("[data-cell]")?.dataset.cell;
    this.table.replaceChildren(this.head(), this.body());
    if (kept) this.table.querySelector(`[data-cell="${kept}"]`)?.focus();
    this.limit();
    this.follow();
  }

  head() {
    const head = document.createElement("thead");
    const row = head.insertRow();
    for (const column of this.data.columns) {
      const cell = row.appendChild(document.createElement("th"));
      cell.scope = "col";
      cell.className = column.kind;
      if (column.sorted) cell.setAttribute("aria-sort", column.sorted);
      if (!column.sorts) {
        cell.textContent = column.title;
        continue;
      }
      const button = cell.appendChild(document.createElement("button"));
      button.type = "button";
      button.dataset.cell = `sort ${column.id}`;
      button.textContent = column.title;
      const arrow = button.appendChild(document.createElement("span"));
      arrow.setAttribute("aria-hidden", "true");
      arrow.textContent = { ascending: " ▲", descending: " ▼" }[column.sorted] ?? "";
      button.onclick = () => this.tell("sorted", column.id);
    }
    return head;
  }

  body() {
    const body = document.createElement("tbody");
    this.rows = new Map();
    for (const each of this.data.rows) {
      const row = body.insertRow();
      row.classList.toggle("ticked", this.ticked.has(each.id));
      const cells = {};
      for (const column of this.data.columns) {
        const first = column.id === "name";
        const cell = row.appendChild(document.createElement(first ? "th" : "td"));
        cell.className = column.kind;
        if (first) cell.scope = "row";
        cells[column.id] = cell;
        if (first) cell.append(this.tick(each));
        else cell.textContent = each.cells[column.id] ?? "";
      }
      this.rows.set(each.id, { ...each, row, at: cells, seen: each.after, step: each.step, run: each.id });
    }
    return body;
  }

  tick(each) {
    const label = document.createElement("label");
    const box = label.appendChild(document.createElement("input"));
    box.type = "checkbox";
    box.checked = this.ticked.has(each.id);
    box.dataset.cell = `tick ${each.id}`;
    box.onchange = () => this.choose(each.id, box.checked);
    const name = label.appendChild(document.createElement("span"));
    name.textContent = each.cells.name;
    name.title = each.cells.name;
    return label;
  }

  set(run, on) {
    if (on) this.ticked.add(run);
    else this.ticked.delete(run);
  }

  /* What the server has not answered is told again: of two messages in quick succession it may hear the last alone. */
  choose(run, on) {
    this.set(run, on);
    this.rows.get(run).row.classList.toggle("ticked", on);
    this.limit();
    this.unheard.push({ number: (this.count += 1), run, on });
    this.tell("ticked", this.unheard);
  }

  /* No more can be ticked than can be compared. */
  limit() {
    const full = this.ticked.size + this.data.elsewhere >= this.data.most;
    for (const box of this.table.querySelectorAll("input[type=checkbox]")) {
      box.disabled = full && !box.checked;
      box.title = box.disabled ? this.data.full : "";
    }
  }

  /* Every row that is active: together they take one connection. */
  async follow() {
    const active = [...this.rows.values()].filter((each) => each.state);
    if (!this.data.module || (!active.length && !this.following)) return;
    if (!this.following) {
      const { Following } = await import(new URL(this.data.module, location.origin));
      this.following ??= new Following(() => this.hear());
    }
    if (!this.closed) this.following.attend(active);
  }

  hear() {
    for (const each of this.rows.values()) {
      const followed = this.following.runs.get(each.id);
      if (!followed) continue;
      for (const body of this.following.news(each)) {
        if (body.event === "stepped") each.step = body.step;
        if (body.event === "evaluated" && body.accuracy !== undefined) {
          each.at.accuracy.textContent = `${(100 * body.accuracy).toFixed(1)} %`;
        }
      }
      const state = followed.status ?? each.state;
      const over = !["queued", "running"].includes(state.status); // its end follows behind its last event
      if (!over) each.at.status.textContent = said(state, each);
      if (followed.ended || followed.unknown || (!over && state.status !== each.state.status)) {
        this.report(`${each.id} ${followed.ended ? "ended" : followed.unknown ? "unknown" : state.status}`);
      }
    }
  }

  /* Python draws the table again where a run has begun or ended: once for each news. */
  report(news) {
    if (news === this.reported || window.history.onePerPage?.leaves?.()) return;
    this.reported = news;
    this.tell("changed", news);
  }
}

export function said({ status, cancelling, words, starts }, { step, steps }) {
  if (status === "queued" && starts?.startsWith("starts")) return `${words}, ${starts}`; // else that is not known yet
  const going = steps && status === "running" && !cancelling;
  return going ? `${words}, ${Math.floor((100 * step) / steps)} %` : words;
}
