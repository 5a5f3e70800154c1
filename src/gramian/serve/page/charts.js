// The two small charts: leave-one-out error over the edits, and the search over width and ridge.

function begin(canvas) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [pen, w, h];
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

export function drawTrace(canvas, values) {
  const [pen, w, h] = begin(canvas);
  if (values.length < 2) return;
  const top = Math.max(...values, 1e-9), x = (i) => 2 + (i / Math.max(values.length - 1, 30)) * (w - 8);
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
