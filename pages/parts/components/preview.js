/* A chart follows a slider while it is moved: drawn by the server for each stop, one at a time, the latest wins. */

const SLOW = 1500; // ms without an answer after which the reader is told that the server is waited for
const HELD = 60_000; // ms for which what the page draws of earlier stops is held back, unless the slider settles before

export class Preview {
  ahead = false; // of what the page draws
  address = ""; // where the page's last run says that the chart can be asked for

  /* `take` draws what the server answers, `release` what the page has drawn meanwhile; `waits` hears of a slow answer. */
  constructor(take, release, waits) {
    Object.assign(this, { take, release, waits });
    this.moved = (event) => this.follow(event);
    this.settled = ({ detail }) => detail.field === this.field && this.end();
    document.addEventListener("slider-moved", this.moved);
    document.addEventListener("slider-settled", this.settled);
  }

  close() {
    this.end();
    document.removeEventListener("slider-moved", this.moved);
    document.removeEventListener("slider-settled", this.settled);
  }

  ready(address) {
    this.address = address;
    this.unable = undefined;
  }

  follow(event) {
    const { field } = event.detail;
    if (!this.address || this.unable === field) return;
    event.preventDefault();
    this.wanted = event.detail;
    this.field = field;
    if (!this.ahead) this.begins?.();
    this.ahead = true;
    clearTimeout(this.ending);
    this.ending = setTimeout(() => this.end(), HELD);
    this.ask();
  }

  async ask() {
    if (this.asking || !this.wanted) return;
    this.asking = true;
    const { field, text } = this.wanted;
    this.wanted = undefined;
    const slow = setTimeout(() => this.waits(true), SLOW);
    const answered = await fetch(`${this.address}?${new URLSearchParams({ field, text })}`)
      .then((response) => (response.status === 200 ? response.json() : null)).catch(() => null);
    clearTimeout(slow);
    this.waits(false);
    this.asking = false;
    if (answered && this.ahead) this.take(answered);
    if (!answered) this.unable = field; // until the page's next run: it is asked for what comes
    this.ask();
  }

  end() {
    clearTimeout(this.ending);
    if (!this.ahead) return;
    this.ahead = false;
    this.wanted = undefined;
    this.release();
  }
}
