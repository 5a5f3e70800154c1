// Watch: a served store, live. Readings come over a web socket, all else from the routes of the service.

import { begin, colour, drawClaims, drawTrace } from "./charts.js";
import { SHAPED, outline, swatch } from "./plane.js";

const $ = (id) => document.getElementById(id);
const COLOURS = ["a", "b", "c", "d", "e"];
// Shape and colour of a class: ten shapes in five colours, so that 50 classes differ.
const mark = (label) => ({ shape: label % SHAPED, colour: COLOURS[(label + Math.floor(label / SHAPED)) % 5] });
let name = "", readonly = false, token = sessionStorage.getItem("token"), scopes = [], classes = null, numbered = true;
let readings = [], chosen = null, cloud = null, pause = 200;

const element = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
const shown = (value) => (typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)).toString() : String(value));
const odds = (power) => (power < 6 ? shown(Number((10 ** power).toPrecision(2))) : `over 10${[...String(Math.floor(power))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`);
const may = (scope) => scopes.includes(scope);

async function ask(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(`v2/models/${name}/${path}`, { headers, method: body ? "POST" : "GET", body: body && JSON.stringify(body) });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.detail);
  return content;
}

const attempt = (job) => job().catch((error) => { $("said").textContent = error.message; });

// ---- the connection ---------------------------------------------------------------------------------------

async function open() {
  try {
    choices((await (await fetch("v2/health/ready")).json()).models);
  } catch {
    return lost();
  }
  const link = new WebSocket(new URL(`v2/models/${name}/watch`, location.href.replace(/^http/, "ws")));
  link.onopen = () => link.send(JSON.stringify({ token }));
  link.onmessage = ({ data }) => receive(JSON.parse(data));
  link.onclose = ({ code }) => code !== 1008 && lost();
}

// One service may have several models: the address says which one to watch.
function choices(models) {
  const wanted = new URLSearchParams(location.search).get("model");
  name = models.includes(wanted) ? wanted : models[0];
  $("model-row").hidden = models.length < 2;
  $("model").replaceChildren(...models.map((model) => new Option(model, model, false, model === name)));
}
$("model").addEventListener("change", (event) => { location.search = new URLSearchParams({ model: event.target.value }); });

function lost() {
  $("lost").hidden = false;
  setTimeout(open, pause);
  pause = Math.min(2 * pause, 2000);
}

function receive(message) {
  if (message.kind === "denied") return deny(message);
  if (message.kind === "welcome") return welcome(message);
  if (readings.at(-1)?.version !== message.version) readings = [...readings.slice(-239), message];
  read(message);
  refresh();
}

function deny({ scopes: has }) {
  $("door").hidden = false; $("room").hidden = true;
  $("denied").textContent = token ? `This token ${has.length ? `is good for ${has.join(", ")} alone` : "is not known"}.` : "";
  $("token").focus();
}

function welcome(message) {
  pause = 200;
  ({ scopes, classes, numbered, readings, readonly } = message);
  $("name").textContent = message.name; $("estimator").textContent = message.estimator;
  document.title = `${message.name} · Gramian`;
  $("error-name").textContent = classes ? "leave-one-out error" : "leave-one-out error, RMS";
  $("value-name").textContent = classes ? "wrong with probability" : "error";
  $("lost").hidden = $("door").hidden = true; $("room").hidden = false;
  $("evidence").hidden = !may("forget");
  $("audit").disabled = !may("admin");
  $("claims").closest("section").hidden = !classes;
}

$("door").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem("token", token);
  open();
});

// ---- readings, doubt, projection --------------------------------------------------------------------------

function read({ n, error, numerical_error: residual, data_drift: drift }) {
  $("n").textContent = n;
  $("error").textContent = classes ? `${(100 * error).toFixed(2)} %` : shown(error);
  $("residual").textContent = residual.toExponential(1);
  $("drift").innerHTML = drift.rows ? `${odds(drift.log10_martingale)} <small>alarm at ${10 ** drift.alarm_at}</small>` : "<small>no new rows yet</small>";
  $("drift").classList.toggle("alarm", drift.alarm);
  $("drift-alarm").hidden = !drift.alarm;
  const traces = { n: (one) => one.n, error: (one) => one.error, residual: (one) => Math.max(0, 17 + Math.log10(one.numerical_error || 1e-17)), drift: (one) => Math.max(0, one.data_drift.log10_martingale) };
  for (const [id, value] of Object.entries(traces)) {
    drawTrace($(`${id}-trace`), readings.map(value));
  }
}

let resting = 0;
function refresh() {
  clearTimeout(resting);
  resting = setTimeout(() => attempt(async () => {
    doubt((await ask("doubt?count=20")).samples);
    cloud = await ask("projection", {});
    drawCloud();
    if (may("forget")) await list();
  }), 150);
}

function doubt(samples) {
  $("doubtful").replaceChildren(...samples.map((sample) => {
    const row = element("tr"), button = element("button", shown(sample.id), { className: "link", title: "Show this sample" });
    button.addEventListener("click", () => attempt(() => choose(sample.id)));
    const first = element("td");
    first.append(button);
    row.append(first, element("td", shown(sample.given)), element("td", shown(sample.suggested)), element("td", shown(sample.probability ?? sample.error)));
    row.classList.toggle("chosen", sample.id === chosen);
    return row;
  }));
}

let toPixel = null;

function drawCloud() {
  if (!cloud) return;
  const [brush, w, h] = begin($("picture"));
  const scale = (values, from, to) => {
    const low = Math.min(...values), high = Math.max(...values);
    return (value) => from + ((value - low) / (high - low || 1)) * (to - from);
  };
  const toX = scale(cloud.x, 12, w - 12), toY = scale(cloud.y, h - 12, 12);
  toPixel = (i) => [toX(cloud.x[i]), toY(cloud.y[i])];
  cloud.ids.forEach((id, i) => {
    const [x, y] = toPixel(i), label = cloud.labels?.[i] ?? 0;
    const { shape, colour: name } = mark(label);
    brush.fillStyle = colour(name); brush.globalAlpha = 0.8;
    brush.beginPath();
    for (const [across, up] of outline(shape, 4.4)) brush.lineTo(x + across, y + up);
    brush.fill();
    brush.globalAlpha = 1;
    if (id === chosen) { brush.strokeStyle = colour("ink"); brush.lineWidth = 2.2; brush.beginPath(); brush.arc(x, y, 9, 0, 7); brush.stroke(); }
  });
  $("axes").textContent = `Across: ${cloud.axes[0]}. Up: ${cloud.axes[1]}.` + (cloud.n > cloud.ids.length ? ` ${cloud.ids.length} of ${cloud.n} samples.` : "");
  $("legend").replaceChildren(...(classes ?? []).slice(0, 50).map((label, i) => {
    const entry = element("li", shown(label)), { shape, colour: name } = mark(i);
    entry.insertAdjacentHTML("afterbegin", swatch(shape, name));
    return entry;
  }));
  const claims = cloud.claimed ? `${drawClaims($("claims"), cloud.claimed, cloud.right)} ` : "";
  $("coverage").textContent = claims + coverage(cloud.sets);
}
function coverage({ confidence_level: confidence, covered, size }) {
  const large = classes ? `with ${size.toFixed(2)} labels on average` : `each ${shown(size)} wide`;
  return `At ${100 * confidence} %, ${classes ? "sets" : "intervals"} hold the truth of ${(100 * covered).toFixed(1)} % of the samples, left out, ${large}.`;
}
addEventListener("resize", drawCloud);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCloud);

$("picture").addEventListener("click", (event) => {
  const box = $("picture").getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const far = (i) => { const [u, v] = toPixel(i); return Math.hypot(u - x, v - y); };
  const best = cloud?.ids.map((_, i) => i).reduce((one, other) => (far(other) < far(one) ? other : one));
  if (best !== undefined && far(best) < 14) attempt(() => choose(cloud.ids[best]));
});

// ---- one sample, and forgetting it ------------------------------------------------------------------------

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("wanted").value.trim();
  if (text) attempt(() => choose(numbered && /^-?\d+$/.test(text) ? Number(text) : text));
});

async function choose(id) {
  $("said").textContent = "";
  if (!may("forget")) return void ($("said").textContent = "Values and forgetting need a token that may forget: this page is read-only.");
  const [sample] = (await ask("samples", { ids: [id] })).samples;
  chosen = sample.id;
  const values = [["id", sample.id], ["target", sample.target], ["others say", sample.suggested], ...Object.entries(sample.values)];
  const button = element("button", "Forget this sample…", { className: "danger", title: "Exactly, as if it had never been learned; with a receipt" });
  button.addEventListener("click", () => {
    $("sure-title").textContent = `Forget sample ${sample.id}?`;
    $("sure-text").textContent = "The model becomes the one that never saw it, and its row is erased from the store. This cannot be undone.";
    $("sure").returnValue = "no";
    $("sure").showModal();
  });
  $("sample").replaceChildren(facts(values.slice(0, 60)), ...(readonly ? [] : [button]));
  drawCloud();
}

$("sure").addEventListener("close", () => {
  if ($("sure").returnValue === "yes") attempt(forget);
});

async function forget() {
  const { receipt } = await ask("forget", { ids: [chosen] });
  const box = element("div", "", { className: "receipt", id: "receipt" });
  box.append(element("strong", `Forgotten. Receipt ${receipt.number}`), certificate(receipt), download(receipt, "Download receipt"));
  $("sample").replaceChildren(box);
  chosen = null;
}

function facts(entries) {
  const listed = element("dl", "", { className: "facts" });
  for (const [key, value] of entries) listed.append(element("dt", key), element("dd", shown(value)));
  return listed;
}

function certificate(record) {
  const keys = ["time", "user", "action", "n_before", "n_after", "drift", "commitment", "previous", "hash", "signature"];
  const title = (key) => (key === "drift" ? "numerical error" : key.replace("_", " "));
  return facts(keys.filter((key) => (record[key] ?? null) !== null).map((key) => [title(key), record[key]]));
}

function download(record, text) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(record, null, 2) + "\n"], { type: "application/json" }));
  return element("a", text, { href: url, download: `receipt-${record.number}.json`, className: "button" });
}

// ---- receipts and audit -----------------------------------------------------------------------------------

async function list() {
  const { total } = await ask("receipts?limit=0"), { receipts, open: unconfirmed } = await ask(`receipts?after=${Math.max(-1, total - 21)}`);
  const state = (record) => (unconfirmed.includes(record.number) ? "open" : "closed");
  $("receipts").replaceChildren(...receipts.reverse().map((record) => {
    const row = element("tr"), last = element("td");
    last.append(download(record, "JSON"));
    row.append(element("th", record.number, { scope: "row" }), ...[record.time.slice(0, 19).replace("T", " "), record.user, record.action, record.count, record.n_after, record.drift === null ? "" : record.drift.toExponential(1), state(record)].map((text) => element("td", text)), last);
    return row;
  }));
  // What is open closes when the other processes have confirmed it, which is no new version.
  clearTimeout(closing);
  if (unconfirmed.length) closing = setTimeout(() => attempt(list), 1000);
}
let closing = 0;

$("audit").addEventListener("click", () => attempt(async () => {
  $("verdict").textContent = "Checking…";
  const { passed, checks } = await ask("audit", {});
  $("verdict").textContent = `${passed ? "Passed" : "FAILED"}: ` + checks.map((check) => `${check.name} ${check.passed ? "✓" : "✗ " + check.detail}`).join(", ");
}));

open();
