/* The page: sliders in, numbers and pictures out. */

const SLIDERS = ["sigma", "batch", "epochs"];

function addSliders() {
  for (const name of SLIDERS) {
    const [left, right] = head.meanings[name];
    const last = stops[name].length - 1;
    const input = `<input type="range" id="${name}" min="0" max="${last}" value="${place[name]}">`;
    const ends = `<span aria-hidden="true"><i>${left}</i><i>${right}</i></span>`;
    const label = `<label>${words.sliders[name]} <output id="of-${name}"></output>${input}${ends}</label>`;
    byId("sliders").insertAdjacentHTML("beforeend", label);
    byId(name).addEventListener("input", (event) => go({ [name]: Number(event.target.value) }));
    byId(name).addEventListener("change", keepInAddress);
  }
  byId("sliders").insertAdjacentHTML("beforeend", `<p class="small">${head.fixed}</p>`);
}

/* Show another place of some sliders. */
function go(other) {
  Object.assign(place, other);
  draw();
}

function draw() {
  for (const name of SLIDERS) {
    const value = stops[name][place[name]].toLocaleString("en", { maximumFractionDigits: 12 });
    byId(name).value = place[name];
    byId(name).setAttribute("aria-valuetext", value);
    byId(`of-${name}`).textContent = value;
  }
  const certified = others.find((look) => look.certified);
  const after = `${counted(stops.epochs[place.epochs], "epoch")} (${counted(stepsAt(), "step")})`;
  byId("said").textContent = `Epsilon ${marked(certified)} after ${after}`;
  byId("proven").textContent = provenText();
  byId("printed").textContent = SLIDERS.map((name) => `${words.sliders[name]} ${stops[name][place[name]]}`).join(", ");
  sayLearns();
  saySecret();
  drawRuler(valueOf(at("upper")));
  drawChart();
  drawTradeoff();
  sayVerdicts();
  sayEnough();
}

/* The certified band of epsilon, in a sentence. */
function provenText() {
  const lower = written("lower", true);
  if (at("upper") === INFINITE) return filled(words.proven.least, { lower });
  return filled(words.proven.between, { lower, upper: written("upper", true), delta: head.delta });
}

/* What the most accurate recorded training reached that spent at most this epsilon. */
function sayLearns() {
  const kept = head.recorded.filter((each) => valueOf(each.code) <= valueOf(at("upper")));
  const best = kept.at(-1);
  byId("right").textContent = best ? filled(words.learns.right, best) : "–";
  byId("recorded").textContent = best?.text ?? withoutRecord();
}

function withoutRecord() {
  const [mostPrivate] = head.recorded;
  return mostPrivate ? filled(words.learns.too_private, mostPrivate) : words.learns.nothing;
}

function saySecret() {
  const people = at("people");
  const thousandths = at("sure");
  byId("people-right").textContent = filled(words.secret.people, { people });
  drawPeople(people);
  let sure = words.secret.certain;
  if (thousandths < head.certain) {
    const share = thousandths < 1000 ? `${(thousandths / 10).toFixed(1)} %` : "more than 99.9 %";
    sure = filled(words.secret.sure, { sure: share, delta: head.delta });
  }
  byId("sure").textContent = people === 100 ? `${words.secret.no_promise} ${sure}` : sure;
}

function sayVerdicts() {
  const rows = others.map((look) => {
    const worth = worthOf(look);
    const [sign, color] = head.signs[worth];
    const ratio = look.certified ? ratioOfBand() : ratioOf(look);
    const verdict = `<b aria-hidden="true" style="color:${color}">${sign}${PLAIN}</b> ${words.verdicts[worth]}`;
    return `<tr><th>${key(look)} ${look.title}</th><td>${marked(look)}</td><td>${ratio}</td><td>${look.kind}</td><td>${verdict}</td></tr>`;
  });
  byId("verdicts").innerHTML = rows.join("");
}

function ratioOf(look) {
  const plane = `${look.plane} ratio`;
  return at(plane) === INFINITE ? "–" : `${written(plane, false)} ×`;
}

const ratioOfBand = () => (at("upper") === INFINITE ? "–" : "1.00 ×");

/* The place of the least sigma whose epsilon is at most `target`; -1 if there is none. */
function enoughAt(target) {
  return stops.sigma.findIndex((_, sigma) => valueOf(at("upper", { sigma })) <= target);
}

/* The epsilon asked for; NaN for no such number, as with a comma, which stands for a point or for thousands. */
function targetOf() {
  const target = Number(byId("target").value.trim());
  return target > 0 && Number.isFinite(target) ? target : NaN;
}

function sayEnough() {
  const target = targetOf();
  const { asked, comma } = words.sigma_for;
  const whyNot = byId("target").value.includes(",") ? comma : asked;
  byId("enough").textContent = Number.isNaN(target) ? whyNot : enoughText(enoughAt(target));
}

function enoughText(sigma) {
  if (sigma < 0) return words.sigma_for.none;
  const certified = others.find((look) => look.certified);
  const numbersAt = (other) => ({ sigma: stops.sigma[other], epsilon: marked(certified, { sigma: other }) });
  const found = filled(words.sigma_for.found, numbersAt(sigma));
  if (sigma === 0) return `${found} ${words.sigma_for.least}`;
  return `${found} ${filled(words.sigma_for.before, numbersAt(sigma - 1))}`;
}

/* The stop stands in the address, where the page may write there: not in every sandbox. */
function keepInAddress() {
  const values = SLIDERS.map((name) => `${name}=${stops[name][place[name]]}`);
  try {
    history.replaceState(null, "", `#${values.join("&")}`);
  } catch {
    // The page works without.
  }
}

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of SLIDERS) {
    const found = stops[name].indexOf(Number(asked.get(name)));
    if (found >= 0) place[name] = found;
  }
}

function listen() {
  listenForPointing();
  byId("wanted").addEventListener("submit", (event) => {
    event.preventDefault();
    const sigma = enoughAt(targetOf());
    if (sigma >= 0) go({ sigma });
    keepInAddress();
  });
  byId("target").addEventListener("input", sayEnough);
  byId("chart").addEventListener("pointermove", readOut);
  byId("chart").addEventListener("pointerdown", readOut);
  for (const button of document.querySelectorAll("[data-sigma]")) {
    button.addEventListener("click", () => {
      go({ ...head.start, sigma: stops.sigma.indexOf(Number(button.dataset.sigma)) });
      keepInAddress();
      scrollTo({ top: 0, behavior: "smooth" });
    });
  }
  byId("open-lesson")?.addEventListener("click", () => byId("lesson").scrollIntoView({ behavior: "smooth" }));
  addEventListener("hashchange", () => { readAddress(); draw(); });
  addEventListener("resize", drawChart);
  addEventListener("beforeprint", drawChart);
  addEventListener("afterprint", drawChart);
}

read().then(() => {
  readAddress();
  for (const hidden of document.querySelectorAll("#lab, #more, #open-lesson")) hidden.hidden = false;
  byId("still").hidden = true;
  addSliders();
  listen();
  draw();
  performance.mark("drawn");
});
