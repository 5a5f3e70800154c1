// The small charts: leave-one-out error over the edits, the search over width and ridge, claims and hits.

// The pen of a canvas in its present size, and that size.
export function begin(canvas) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [pen, w, h];
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

export function drawTrace(canvas, values) {
  canvas.hidden = values.length < 2; // one value is no line
  if (canvas.hidden) return;
  const [pen, w, h] = begin(canvas);
  const top = Math.max(...values, 1e-9), x = (i) => 2 + (i / (values.length - 1)) * (w - 8);
  const y = (value) => h - 3 - (value / top) * (h - 8);
  pen.strokeStyle = colour("accent"); pen.lineWidth = 1.6; pen.lineJoin = "round";
  pen.beginPath();
  values.forEach((value, i) => pen.lineTo(x(i), y(value)));
  pen.stroke();
  pen.fillStyle = colour("accent");
  pen.beginPath(); pen.arc(x(values.length - 1), y(values.at(-1)), 3, 0, 7); pen.fill();
}

// The first `upTo` trials as dots, the better the darker; the best one so far is ringed.
export function drawMap(canvas, { gammas, ridges, values }, upTo, best) {
  const [pen, w, h] = begin(canvas);
  const xs = [...gammas].map((g) => Math.log10(g || 1)), ys = [...ridges].map((r) => Math.log10(r));
  const scale = (list, from, to) => {
    const low = Math.min(...list), high = Math.max(...list);
    return (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
  };
  const toX = scale(xs, 14, w - 14), toY = scale(ys, h - 22, 12), order = [...values].sort((a, b) => a - b);
  const rank = (value) => order.indexOf(value) / Math.max(order.length - 1, 1);
  pen.fillStyle = colour("accent");
  for (let i = 0; i < upTo; i++) {
    pen.globalAlpha = 0.12 + 0.88 * (1 - rank(values[i])) ** 3;
    pen.beginPath(); pen.arc(toX(xs[i]), toY(ys[i]), 2.6, 0, 7); pen.fill();
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = colour("b"); pen.lineWidth = 2.2;
  pen.beginPath(); pen.arc(toX(xs[best]), toY(ys[best]), 6.5, 0, 7); pen.stroke();
  pen.fillStyle = colour("soft"); pen.font = "11px system-ui, sans-serif";
  pen.fillText("width γ →", 8, h - 6);
  pen.save(); pen.translate(w - 6, h - 26); pen.rotate(-Math.PI / 2); pen.fillText("ridge λ →", 0, 0); pen.restore();
}

// How often predictions are right, against the probability that they claim, in five groups; says it in a sentence.
export function drawClaims(canvas, claimed, right) {
  const [pen, w, h] = begin(canvas), low = Math.min(...claimed), groups = Array.from({ length: 5 }, () => ({ n: 0, sum: 0, right: 0 }));
  claimed.forEach((p, i) => {
    const group = groups[Math.min(4, Math.floor((5 * (p - low)) / (1 - low || 1)))];
    group.n += 1; group.sum += p; group.right += right[i];
  });
  const toX = (p) => 34 + ((p - low) / (1 - low || 1)) * (w - 48), toY = (p) => h - 20 - p * (h - 32);
  pen.font = "11px system-ui, sans-serif"; pen.fillStyle = colour("soft");
  for (const p of [0, 0.5, 1]) pen.fillText(`${100 * p} %`, 2, toY(p) + 4);
  pen.fillText(`claims ${Math.round(100 * low)} %`, 34, h - 4); pen.fillText("100 %", w - 34, h - 4);
  pen.strokeStyle = colour("soft"); pen.setLineDash([4, 4]); pen.lineWidth = 1;
  pen.beginPath(); pen.moveTo(toX(low), toY(low)); pen.lineTo(toX(1), toY(1)); pen.stroke(); pen.setLineDash([]);
  pen.fillStyle = colour("accent");
  for (const { n, sum, right: hits } of groups) {
    if (!n) continue;
    pen.globalAlpha = 0.85;
    pen.beginPath(); pen.arc(toX(sum / n), toY(hits / n), 3 + 7 * Math.sqrt(n / claimed.length), 0, 7); pen.fill();
  }
  pen.globalAlpha = 1;
  const mean = (list) => list.reduce((a, b) => a + Number(b), 0) / list.length;
  return `Left out, it claims ${(100 * mean(claimed)).toFixed(1)} % on average and is right in ${(100 * mean(right)).toFixed(1)} %.`;
}
