// Play: samples are painted here, the model that learns and forgets them lives on the server.

import { drawMap, drawTrace } from "./charts.js";
import { inside, NAMES, Plane, swatch } from "./plane.js";
import { Socket } from "./socket.js";
import { fromHash, Samples, toHash, wire } from "./state.js";

const $ = (id) => document.getElementById(id);
const samples = new Samples();
const plane = new Plane($("plane"));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const settings = { estimator: "LeastSquaresSVC", kernel: "rbf", gamma: 2, ridge: 0.1 };
let offers = null, picture = null, label = 0, data = "two moons", layers = readLayers();
let errors = [], stream = [], streaming = false;

const offer = () => offers.estimators.find(({ name }) => name === settings.estimator);
const curve = () => offer()?.task === "curve";
const number = (value) => (value >= 0.01 && value < 1000 ? value.toPrecision(3) : value.toExponential(1));
const say = (text) => { $("said").textContent = text; };

// ---- the connection ---------------------------------------------------------------------------------------

const socket = new Socket("socket", (answer) => answer.kind === "offers" && welcome(answer), (open) => {
  if (open) return; // the server speaks first
  $("lost").hidden = false;
  streaming = false;
});

function welcome(answer) {
  $("lost").hidden = true;
  const first = offers === null;
  offers = answer;
  if (!first) return begin({ rows: samples.list().map(wire) }); // the server is back: it learns what is painted here
  fill();
  const shared = fromHash(location.hash);
  if (shared) restore(shared);
  else load(data);
}

function begin(how, then = () => {}) {
  picture = null; errors = [];
  socket.ask({ do: "start", ...settings, ...how }, (answer) => { show(answer); then(answer ?? {}); });
}

function load(name) {
  data = name;
  dismiss();
  const wanted = offers.curves.includes(name) ? "curve" : "classes";
  if (offer().task !== wanted) settings.estimator = offers.estimators.find(({ task }) => task === wanted).name;
  refresh(); // the controls at once, the samples when they are there
  begin({ data: name }, ({ rows = [], stream: more = [] }) => {
    samples.reset(rows);
    stream = more; streaming = false;
    if (label > 1 && wanted === "classes") choose(0);
    refresh();
    redraw();
  });
}

// What was found and proved is of the samples before.
let searches = 0;
function dismiss() {
  searches += 1; // a search that is being shown ends
  $("search").hidden = true;
  $("proof").textContent = "Is the live model really the one that a refit gives?";
  document.querySelector(".proof .bars")?.remove();
}

function restore({ settings: shared, layers: wanted, rows }) {
  Object.assign(settings, shared);
  for (const box of document.querySelectorAll("[name=layer]")) box.checked = wanted.includes(box.value);
  layers = readLayers();
  samples.reset(rows);
  stream = [];
  begin({ rows }, refresh);
}

// ---- answers of the server --------------------------------------------------------------------------------

function show(answer, start) {
  if (!answer) return;
  $("problem").hidden = answer.kind !== "error"; // it stands until the next answer
  if (answer.kind === "error") {
    $("problem").textContent = answer.message;
    return;
  }
  const same = picture?.classes?.join() === answer.classes?.join(); // slow layers stay until new ones are there
  picture = same ? { ...Object.fromEntries(SLOW.map((name) => [name, picture?.[name]])), ...answer } : answer;
  const arrived = performance.now();
  draw();
  performance.measure("drawing", { start: arrived, end: performance.now() });
  if (start !== undefined) performance.measure("click to boundary", { start, end: performance.now() });
  readings(answer);
  askDetails();
}

const SLOW = ["progress", "p_values", "rough", "intervals", "confidences", "widths", "membership", "novelty", "threshold"];
const SHARES = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98];
const confidence = () => ({ which: Number($("confidence").value), share: SHARES[$("confidence").value] });

function draw() {
  plane.drawField(picture, layers, confidence());
  plane.drawSamples(samples.rows.values(), picture, layers);
}

function readings({ n, error, wrong, edits, ms }) {
  $("n").textContent = n;
  $("edit-name").textContent = edits ? "last edit" : "last fit";
  $("edit").innerHTML = ms === undefined ? "–" : `${ms.toFixed(ms < 10 ? 1 : 0)} <small>ms</small>`;
  if (error === undefined && picture.values) return; // that of a slow estimator comes a little later
  if (error === undefined || error === null) $("error").textContent = "–";
  else if (curve()) $("error").innerHTML = `${error.toFixed(3)} <small>RMS</small>`;
  else $("error").innerHTML = `${(100 * error).toFixed(1)} % <small>${wrong} of ${n}</small>`;
  if (typeof error === "number") errors = [...errors.slice(-119), error];
  drawTrace($("trace"), errors);
}

// Layers and slow errors follow when the pointer rests.
let resting = 0;
function askDetails(rest = 140) {
  clearTimeout(resting);
  const wanted = ["sets", "influence", "membership"].filter((name) => layers.has(name));
  const slow = picture?.values && (!picture.margin || (layers.has("sets") && picture.progress < 1));
  if (!picture?.values || !(slow || wanted.length)) return; // other data may be on their way
  resting = setTimeout(() => {
    if (!socket.idle) return askDetails(rest);
    socket.ask({ do: "details", layers: wanted }, (answer) => {
      if (answer?.kind !== "picture" || !socket.idle) return;
      const more = answer.progress < 1, first = !picture?.margin;
      picture = answer;
      draw();
      $("progress").textContent = more ? `Sets: ${Math.round(100 * answer.progress)} % of the points so far` : "";
      if (first && slow) readings(answer);
      if (more) askDetails(20);
    });
  }, rest);
}

// ---- edits ------------------------------------------------------------------------------------------------

function send(edit, start) {
  socket.ask({ do: "edit", learn: edit.learn.map(wire), forget: edit.forget.map((row) => row.id) }, (answer) => {
    if (answer?.kind === "error") return refuse(edit, answer);
    show(answer, start);
    if (answer) say(`${edit.learn.length} learned, ${edit.forget.length} forgotten; ${answer.n} samples, ${$("error-name").textContent} ${$("error").textContent}`);
  });
  refresh();
}

function refuse(edit, answer) {
  samples.apply({ learn: edit.forget, forget: edit.learn }, false);
  samples.past = samples.past.filter((past) => past !== edit);
  show(answer);
  refresh();
  redraw();
}

function edit(learn, forget, start) {
  if (learn.length + samples.rows.size > offers.most) return say(`The page holds ${offers.most} samples at most.`);
  send(samples.apply({ learn, forget }), start);
  for (const row of [...learn, ...forget].slice(0, 40)) ripple(row, forget.includes(row));
  plane.drawSamples(samples.rows.values(), picture, layers);
}

const teach = (x, y, start) => edit([samples.make(x, y, curve() ? 0 : label)], [], start);
const forget = (rows, start) => rows.length && edit([], rows, start);

function travel(change) {
  if (change) { send(change, performance.now()); redraw(); }
}

// A drag sends its newest place whenever the last one has been drawn.
const drag = {
  start(row, start) { Object.assign(this, { from: row, at: row, next: null, busy: false, moved: false, pressed: start }); },
  move(x, y) { this.moved = true; this.next = [x, y]; if (!this.busy) this.step(); },
  step() {
    if (!this.next) { this.busy = false; return this.done?.(); }
    const row = samples.make(...this.next, this.from.label), change = { learn: [row], forget: [this.at] };
    samples.apply(change, false);
    Object.assign(this, { at: row, next: null, busy: true });
    socket.ask({ do: "edit", learn: [wire(row)], forget: [change.forget[0].id] }, (answer) => {
      show(answer);
      performance.mark("drag frame");
      this.step();
    });
  },
  end() {
    const keep = () => { this.done = null; if (this.at !== this.from) samples.remember({ learn: [this.at], forget: [this.from] }); refresh(); };
    if (this.busy) this.done = keep;
    else keep();
  },
};

// ---- pointer and keyboard ---------------------------------------------------------------------------------

let gesture = null, lasso = null, over = null, ghost = null, cursor = null, last = null;
const reach = () => (plane.radius + 6) * plane.unit;

plane.top.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || !offers) return;
  plane.top.setPointerCapture(event.pointerId);
  cursor = null; streaming = false;
  const [x, y] = plane.place(event);
  const row = samples.nearest(x, y, reach());
  if (tool() === "lasso" || event.shiftKey) { gesture = "lasso"; lasso = [[x, y]]; }
  else if (row) { gesture = "drag"; drag.start(row, event.timeStamp); last = [event.clientX, event.clientY]; plane.top.classList.add("dragging"); }
  else { gesture = "paint"; last = [event.clientX, event.clientY]; teach(x, y, event.timeStamp); }
  hover(null);
});

plane.top.addEventListener("pointermove", (event) => {
  const [x, y] = plane.place(event);
  const far = last && Math.hypot(event.clientX - last[0], event.clientY - last[1]);
  if (gesture === "lasso") { lasso.push([x, y]); redrawTop(); }
  else if (gesture === "drag" && (drag.moved || far > 4)) drag.move(x, y);
  else if (gesture === "paint" && far > 26) { last = [event.clientX, event.clientY]; teach(x, y); }
  else if (!gesture) hover(samples.nearest(x, y, reach()));
});

plane.top.addEventListener("pointerup", (event) => finish(event.timeStamp));
plane.top.addEventListener("pointercancel", () => { gesture = lasso = null; redrawTop(); });
plane.top.addEventListener("pointerleave", () => hover(null));

function finish(start) {
  plane.top.classList.remove("dragging");
  if (gesture === "lasso") forget(samples.list().filter((row) => inside([row.x, row.y], lasso)), start);
  if (gesture === "drag") { if (drag.moved) drag.end(); else forget([drag.from], start); }
  gesture = lasso = last = null;
  redrawTop();
}

function hover(row) {
  if (row?.id === over?.id) return;
  over = row; ghost = null;
  plane.top.classList.toggle("over", Boolean(row));
  $("tip").hidden = !row;
  if (row) {
    tip(row);
    if (layers.has("influence") && socket.idle) socket.ask({ do: "without", id: row.id }, (answer) => {
      if (over?.id === row.id && answer?.kind === "without") { ghost = answer; redrawTop(); }
    });
  }
  redrawTop();
}

function tip(row) {
  const at = picture?.ids?.indexOf(row.id) ?? -1, words = [curve() ? `Sample ${row.id}` : `Sample ${row.id}, class ${NAMES[row.label]}`];
  if (at >= 0 && picture.own) words.push(curve() ? `left out: off by ${picture.own[at].toFixed(2)}` : `left out: ${(100 * picture.own[at]).toFixed(0)} % for ${NAMES[row.label]}`);
  if (at >= 0 && picture.influence) {
    const rank = 1 + picture.influence.filter((other) => other > picture.influence[at]).length;
    words.push(`influence ${picture.influence[at].toPrecision(2)}, rank ${rank} of ${picture.n}`);
  }
  const box = $("tip"), x = plane.toX(row.x), y = plane.toY(row.y);
  box.textContent = words.join(" · ");
  box.style.left = x > plane.w / 2 ? "auto" : `${x + 16}px`;
  box.style.right = x > plane.w / 2 ? `${plane.w - x + 16}px` : "auto";
  box.style.top = `${Math.min(y + 10, plane.h - 64)}px`;
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

plane.top.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = STEPS[event.key], rows = samples.list();
  cursor ??= { x: 0, y: 0 };
  if (step) {
    const size = event.shiftKey ? 0.25 : 0.05;
    cursor = { x: Math.max(-1.95, Math.min(1.95, cursor.x + size * step[0])), y: Math.max(-1.45, Math.min(1.45, cursor.y + size * step[1])) };
  } else if (event.key === " " || event.key === "Enter") {
    const row = samples.nearest(cursor.x, cursor.y, reach());
    if (row) forget([row], event.timeStamp);
    else teach(cursor.x, cursor.y, event.timeStamp);
  } else if (event.key === "n" && rows.length) {
    const { id } = samples.nearest(cursor.x, cursor.y, reach()) ?? {};
    const { x, y } = rows[(rows.findIndex((row) => row.id === id) + 1) % rows.length];
    cursor = { x, y };
  } else if ("12345".includes(event.key)) choose(Number(event.key) - 1);
  else if (event.key === "Escape") cursor = null;
  else return;
  event.preventDefault();
  if (cursor && !" Enter".includes(event.key)) {
    const row = samples.nearest(cursor.x, cursor.y, reach());
    say(row ? `On sample ${row.id}, class ${NAMES[row.label]}` : `${cursor.x.toFixed(2)}, ${cursor.y.toFixed(2)}`);
  }
  redrawTop();
});
plane.top.addEventListener("blur", () => { cursor = null; redrawTop(); });

addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  travel(event.shiftKey ? samples.redo() : samples.undo());
});

// ---- controls ---------------------------------------------------------------------------------------------

const tool = () => document.querySelector("[name=tool]:checked").value;
function readLayers() { return new Set([...document.querySelectorAll("[name=layer]:checked")].map((box) => box.value)); }
function choose(which) {
  label = which;
  document.querySelectorAll("[name=label]")[which].checked = true;
}

function fill() {
  const option = (value, text = value) => new Option(text, value);
  const group = (name, options) => { const part = document.createElement("optgroup"); part.label = name; part.append(...options); return part; };
  $("data").replaceChildren(group("Classes", offers.classes.map((name) => option(name))), group("Curves", offers.curves.map((name) => option(name))));
  const estimators = (task) => offers.estimators.filter((estimator) => estimator.task === task).map(({ name, title }) => option(name, title));
  $("estimator").replaceChildren(group("Classes", estimators("classes")), group("Curves", estimators("curve")));
  const kernels = { rbf: "Gaussian", laplacian: "Laplacian", poly: "Polynomial", linear: "Linear" };
  $("kernel").replaceChildren(...offers.kernels.map((name) => option(name, kernels[name])));
  const shapes = NAMES.map((name, i) => {
    const box = document.createElement("label");
    box.title = `Paint class ${name} (key ${i + 1})`;
    box.innerHTML = `<input type="radio" name="label" value="${i}" aria-label="Class ${name}"${i ? "" : " checked"}>` +
      `<span>${swatch(i, name.toLowerCase())}</span>`;
    return box;
  });
  $("labels").append(...shapes);
  $("labels").addEventListener("change", (event) => { label = Number(event.target.value); });
}

// Makes every control show the state, and the address hold it.
let writing = 0;
function refresh() {
  const { name, task, searches, strength, quick } = offer();
  $("data").value = data; $("estimator").value = name; $("kernel").value = settings.kernel;
  $("gamma").value = Math.log10(settings.gamma); $("gamma-value").textContent = number(settings.gamma);
  $("ridge").value = Math.log10(settings.ridge); $("ridge-value").textContent = number(settings.ridge);
  $("gamma").disabled = settings.kernel === "linear";
  $("ridge-name").textContent = strength === "epsilon" ? "Least variance ε" : "Ridge λ";
  $("choose").disabled = !searches || !picture?.values;
  $("choose").title = searches ? "Search width and ridge by the exact leave-one-out criterion" : "This estimator has no closed form along a path of widths";
  $("error-name").textContent = task === "curve" ? "leave-one-out error, RMS" : "leave-one-out error";
  for (const box of document.querySelectorAll("[name=layer]")) box.disabled = Boolean({ shade: task === "curve", constant: task !== "curve", membership: strength !== "epsilon", support: strength === "epsilon" }[box.value]);
  $("confidence-row").hidden = !layers.has("sets");
  $("constant-row").hidden = !layers.has("sets") || task !== "curve";
  $("progress").hidden = !layers.has("sets") || quick;
  $("confidence-value").textContent = `${Math.round(100 * confidence().share)} %`;
  $("labels").disabled = task === "curve";
  $("undo").disabled = !samples.past.length; $("redo").disabled = !samples.future.length;
  $("prove").disabled = !samples.rows.size;
  $("stream").hidden = !stream.length;
  $("stream").textContent = streaming ? "❚❚ Stop" : "▶ Stream";
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", toHash(settings, [...layers], samples.list())), 250);
}

// Settings change while an answer is on its way: the newest wins.
let wanted = null, setting = false;
function set(change) {
  Object.assign(settings, change);
  wanted = { ...settings };
  refresh();
  if (!setting) sendSettings();
}
function sendSettings() {
  if (!wanted) { setting = false; return refresh(); }
  const request = { do: "set", ...wanted };
  setting = true; wanted = null;
  socket.ask(request, (answer) => { show(answer); sendSettings(); });
}

$("data").addEventListener("change", (event) => load(event.target.value));
$("estimator").addEventListener("change", (event) => {
  const before = curve();
  settings.estimator = event.target.value;
  $("search").hidden = true; errors = [];
  if (before === curve()) set({});
  else load(curve() ? offers.curves[0] : offers.classes[0]);
});
$("kernel").addEventListener("change", (event) => { $("search").hidden = true; set({ kernel: event.target.value }); });
$("gamma").addEventListener("input", (event) => set({ gamma: Number((10 ** event.target.value).toPrecision(4)) }));
$("ridge").addEventListener("input", (event) => set({ ridge: Number((10 ** event.target.value).toPrecision(4)) }));
$("confidence").addEventListener("input", () => { refresh(); draw(); });
$("undo").addEventListener("click", () => travel(samples.undo()));
$("redo").addEventListener("click", () => travel(samples.redo()));
$("clear").addEventListener("click", () => forget(samples.list()));
for (const box of document.querySelectorAll("[name=layer]")) box.addEventListener("change", () => { layers = readLayers(); refresh(); redraw(); if (picture) askDetails(); });
addEventListener("hashchange", () => { const shared = fromHash(location.hash); if (shared && offers) restore(shared); });

// ---- the search, the proof, the stream, sharing -----------------------------------------------------------

$("choose").addEventListener("click", () => socket.ask({ do: "choose" }, (found) => {
  if (found?.kind !== "path") return show(found);
  $("search").hidden = false;
  $("found").textContent = "";
  const steps = [];
  for (let i = 0, best = 0; i < found.values.length; i++) {
    if (found.values[i] < found.values[best]) best = i;
    if (i + 1 === found.values.length || found.gammas[i + 1] !== found.gammas[i]) steps.push({ upTo: i + 1, best });
  }
  play(steps, found, ++searches);
}));

function play(steps, found, search) {
  if (search !== searches) return;
  const step = calm ? steps.splice(0).at(-1) : steps.shift();
  drawMap($("map"), found, step.upTo, step.best);
  if (steps.length) {
    set({ gamma: found.gammas[step.best] || settings.gamma, ridge: found.ridges[step.best] });
    return setTimeout(() => play(steps, found, search), 110);
  }
  set({ gamma: found.gamma, ridge: found.ridge });
  $("found").textContent = `γ = ${number(found.gamma)}, λ = ${number(found.ridge)}: the best of ${found.values.length} settings, each by exact leave-one-out, in ${found.ms.toFixed(0)} ms`;
}

$("prove").addEventListener("click", () => socket.ask({ do: "prove" }, (proof) => {
  if (proof?.kind !== "proof") return show(proof);
  const { difference, edits, ms, refit_ms: refit, n } = proof, most = Math.max(ms, refit);
  $("proof").innerHTML = `After ${edits} edit${edits === 1 ? "" : "s"}, the live model and one built from scratch on the same ${n} samples differ by <strong>${difference === 0 ? "nothing" : difference.toExponential(0)}</strong>.${edits ? "" : " Teach or forget a few, and prove it again."}`;
  document.querySelector(".proof .bars")?.remove();
  if (!edits) return;
  const bar = (name, ms, kind) => `<span>${name}</span><i class="${kind}" data-share="${ms / most}"></i><span>${ms.toFixed(1)} ms</span>`;
  $("proof").insertAdjacentHTML("afterend", `<div class="bars">${bar("last edit", ms, "")}${bar("refit", refit, "old")}</div>`);
  for (const line of document.querySelectorAll(".bars i")) line.style.width = `${100 * line.dataset.share}%`;
}));

$("stream").addEventListener("click", () => { streaming = !streaming; refresh(); if (streaming) flow(); });
function flow() {
  const next = stream.shift(), oldest = samples.rows.values().next().value;
  if (!streaming || !next || !oldest) { streaming = false; return refresh(); }
  const [x, y, which] = next, change = { learn: [samples.make(x, y, which)], forget: [oldest] };
  samples.apply(change);
  const begun = performance.now();
  socket.ask({ do: "edit", learn: change.learn.map(wire), forget: [oldest.id] }, (answer) => {
    show(answer);
    refresh();
    setTimeout(flow, Math.max(0, 50 - (performance.now() - begun)));
  });
}

async function copy(button, text) {
  const before = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  say("Copied to the clipboard");
  setTimeout(() => { button.textContent = before; }, 1200);
}
$("link").addEventListener("click", (event) => copy(event.target, location.href.split("#")[0] + toHash(settings, [...layers], samples.list())));
$("python").addEventListener("click", (event) => socket.ask({ do: "python" }, (answer) => answer?.text && copy(event.target, answer.text)));

// ---- drawing ----------------------------------------------------------------------------------------------

// A ring that opens around what was forgotten and closes around what was learned.
function ripple({ x, y, label: which }, gone) {
  if (calm) return;
  const ring = document.createElement("i");
  ring.className = gone ? "ripple gone" : "ripple";
  Object.assign(ring.style, { left: `${plane.toX(x)}px`, top: `${plane.toY(y)}px`, color: plane.colours[which] });
  ring.addEventListener("animationend", () => ring.remove());
  plane.root.append(ring);
}

function redrawTop() { plane.drawTop({ lasso, cursor, ghost, over }); }
function redraw() { draw(); redrawTop(); }
plane.redraw = redraw;
