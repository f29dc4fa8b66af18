/* A table of runs: some can be ticked, columns sort, and those that are active keep up with their events by themselves.
   See `runs_table` of elements.py for `data`. */
import { added, mounted } from "./mounted.js";

class RunsTable {
  constructor(parent) {
    this.box = added(parent, "div", { className: "scrolling runs-box", tabIndex: 0, role: "region" });
    this.table = added(this.box, "table", { className: "runs" });
    this.told = 0; // the number of the last tick: until the server has heard of it, what is ticked here holds
  }

  show({ data, setTriggerValue, setStateValue }) {
    this.tell = setTriggerValue;
    this.keep = setStateValue; // every later request brings it along: a button takes what was ticked just before
    this.data = data;
    this.box.ariaLabel = data.label;
    if (data.heard >= this.told) this.ticked = new Set(data.ticked);
    const kept = document.activeElement?.closest?.("[data-cell]")?.dataset.cell;
    this.table.replaceChildren(this.head(), this.body());
    if (kept) this.table.querySelector(`[data-cell="${kept}"]`)?.focus();
    this.limit();
    this.follow();
  }

  head() {
    const head = document.createElement("thead");
    const row = head.insertRow();
    for (const { id, title, kind, sorts, sorted } of this.data.columns) {
      const cell = added(row, "th", { scope: "col", className: kind, textContent: sorts ? "" : title });
      if (sorted) cell.ariaSort = sorted;
      if (!sorts) continue;
      const button = added(cell, "button", { type: "button", textContent: title, onclick: () => this.tell("sorted", id) });
      button.dataset.cell = `sort ${id}`;
      added(button, "span", { ariaHidden: "true", textContent: { ascending: " ▲", descending: " ▼" }[sorted] ?? "" });
    }
    return head;
  }

  body() {
    const body = document.createElement("tbody");
    this.rows = new Map();
    for (const each of this.data.rows) {
      const row = body.insertRow();
      row.classList.toggle("ticked", this.ticked.has(each.id));
      const at = {};
      for (const { id, kind } of this.data.columns) {
        const first = id === "name";
        at[id] = added(row, first ? "th" : "td", { className: kind, textContent: first ? "" : each.cells[id] ?? "" });
        if (first) this.tick(at[id], each);
      }
      if (each.state) at.status.textContent = each.state.words;
      this.rows.set(each.id, { ...each, row, at, seen: each.after, run: each.id });
    }
    return body;
  }

  tick(cell, { id, cells }) {
    cell.scope = "row";
    const place = added(cell, "div");
    const label = added(place, "label");
    const box = added(label, "input", { type: "checkbox", checked: this.ticked.has(id), ariaLabel: cells.name });
    box.dataset.cell = `tick ${id}`;
    box.onchange = () => this.choose(id, box.checked);
    if (!this.data.most) return added(place, "span", { textContent: cells.name });
    const open = () => this.tell("opened", id);
    const name = added(place, "button", { type: "button", textContent: cells.name, title: cells.name, onclick: open });
    name.dataset.cell = `open ${id}`;
  }

  /* All that is ticked is told each time: of two messages in quick succession the server may hear the last alone. */
  choose(run, on) {
    if (on) this.ticked.add(run);
    else this.ticked.delete(run);
    this.rows.get(run).row.classList.toggle("ticked", on);
    this.limit();
    this.told = Math.max(Date.now(), this.told + 1); // higher than that of a table that stood here before
    this.keep("ticked", [this.told, ...this.ticked]);
  }

  /* No more can be ticked than can be compared. */
  limit() {
    const full = this.ticked.size >= this.data.most;
    for (const box of this.table.querySelectorAll("input[type=checkbox]")) {
      box.disabled = !this.data.most || (full && !box.checked);
      box.title = box.disabled ? this.data.full : "";
    }
  }

  /* Every row that is active: together they take one connection. */
  async follow() {
    const active = [...this.rows.values()].filter((each) => each.state);
    if (!this.data.following || (!active.length && !this.following)) return;
    if (!this.following) {
      const { Following } = await import(new URL(this.data.following, location.origin));
      this.following ??= new Following(() => this.hear());
    }
    if (this.box.isConnected) this.following.attend(active);
  }

  hear() {
    for (const each of this.rows.values()) {
      const followed = this.following.runs.get(each.id);
      if (!followed) continue;
      for (const body of this.following.news(each)) {
        if (body.event === "evaluated" && body.accuracy !== undefined) {
          each.at.accuracy.textContent = `${(100 * body.accuracy).toFixed(1)} %`;
        }
      }
      const state = followed.status ?? each.state;
      if (state.active) each.at.status.textContent = state.words;
      this.following.report(each.id, each.state, (news) => this.tell("changed", news));
    }
  }
}

export default mounted(RunsTable);
