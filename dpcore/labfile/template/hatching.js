/* The area in which an accountant claims too much privacy is hatched while one points at its label: with a mouse, a key
   or a finger, whose last place counts until it touches another. */

const pointed = { mouse: undefined, keys: undefined }; // planes of the accountants

const PATTERN = element("pattern", { id: "hatching", width: 9, height: 9, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  element("path", { d: "M0 0V9", class: "hatching" }));

/* The areas that are seen on the chart, each with its accountant's look. */
function areasOf(frame) {
  return others.map((look) => ({ look, outline: outlineOf(look, frame) })).filter(({ outline }) => outline);
}

/* Around each stretch of epochs in which the line of the claims lies below the proven lower bound. */
function outlineOf(look, frame) {
  if (look.certified) return "";
  let outline = "";
  let around = [];
  let last = { deep: 0 };
  const add = ({ x, claimed, least }) => {
    around.push(`${x.toFixed(1)} ${claimed.toFixed(1)}`);
    around.unshift(`${x.toFixed(1)} ${least.toFixed(1)}`);
  };
  const close = () => {
    if (around.length) outline += `M${around.join("L")}Z`;
    around = [];
  };
  for (let epochs = 0; epochs <= place.epochs; epochs += 1) {
    const [claimed, least] = [look.plane, "lower"].map((plane) => frame.y(valueOf(at(plane, { epochs }))));
    const now = { x: frame.x(stops.epochs[epochs]), claimed, least, deep: claimed - least }; // on a screen what is lower is more
    if (epochs > 0 && now.deep > 0 !== last.deep > 0) add(crossing(last, now));
    if (now.deep > 0) add(now);
    else close();
    last = now;
  }
  close();
  return outline;
}

function crossing(last, now) {
  const share = last.deep / (last.deep - now.deep);
  const y = last.least + share * (now.least - last.least);
  return { x: last.x + share * (now.x - last.x), claimed: y, least: y };
}

const areaDrawn = ({ look, outline }) => element("path", { d: outline, class: "claimed", "data-area": look.plane, display: "none" });

/* The attributes of a label at which one points. */
function markOf(look) {
  return `data-claims="${look.plane}" tabindex="0" role="button" title="${filled(words.hatched, look)}"`;
}

/* Marks that lie over labels of these heights. */
function layMarks(areas, ends, { right }) {
  const marks = ends.filter(({ look }) => areas.some((area) => area.look === look));
  const laid = marks.map(({ look, top }) => `<span ${markOf(look)} style="left:${right + 8}px;top:${top.toFixed(1)}px"></span>`);
  byId("marks").innerHTML = laid.join("");
}

function hatch() {
  for (const area of byId("chart").querySelectorAll("[data-area]")) {
    const shown = Object.values(pointed).includes(area.dataset.area);
    area.setAttribute("display", shown ? "inline" : "none");
  }
}

function point(way, target) {
  pointed[way] = target?.closest("[data-claims]")?.dataset.claims;
  hatch();
}

function listenForPointing() {
  document.addEventListener("pointerover", (event) => point("mouse", event.target));
  document.documentElement.addEventListener("mouseleave", () => point("mouse"));
  document.addEventListener("focusin", ({ target }) => point("keys", target.matches(":focus-visible") ? target : undefined));
  document.addEventListener("focusout", () => point("keys"));
}
