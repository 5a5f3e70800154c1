// Draws the plane: shades and boundary of the model, samples, and what the pointer does.

import { lead, trace } from "./contour.js";
import { HEIGHT, WIDTH } from "./state.js";

export const NAMES = ["A", "B", "C", "D", "E"];
// One shape for each class, so that colour is never needed: centred on 0, of radius 1.
const polygon = (corners, turn, radius = 1) => Array.from({ length: corners }, (_, i) => {
  const angle = turn + (2 * Math.PI * i) / corners;
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});
// A polygon whose corners are by turns far and near.
const star = (rays, inner, turn, radius = 1.3) => polygon(2 * rays, turn).map(([x, y], i) => [x * (i % 2 ? inner : radius), y * (i % 2 ? inner : radius)]);
const plus = (turn) => [[1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4], [-0.4, -1.2], [0.4, -1.2], [0.4, -0.4]]
  .map(([x, y]) => [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)]);
const SHAPES = [
  polygon(24, 0, 0.95), polygon(4, Math.PI / 4, 1.12), polygon(3, -Math.PI / 2, 1.22), polygon(4, 0, 1.22), polygon(5, -Math.PI / 2, 1.12),
  plus(0), polygon(3, Math.PI / 2, 1.22), star(5, 0.5, -Math.PI / 2), plus(Math.PI / 4), star(3, 0.42, -Math.PI / 2, 1.35),
];
export const SHAPED = SHAPES.length;
export const outline = (label, scale) => SHAPES[label].map(([x, y]) => [x * scale, y * scale]);
export function swatch(label, colour) {
  const points = outline(label, 7).map((point) => point.map((value) => value.toFixed(2)).join(",")).join(" ");
  return `<svg viewBox="-9 -9 18 18" aria-hidden="true"><polygon points="${points}" fill="var(--${colour})"/></svg>`;
}

const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.trim().slice(at, at + 2), 16));
const mix = (one, other, share) => one.map((value, i) => value + (other[i] - value) * share);
const packed = ([r, g, b]) => (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);

export class Plane {
  constructor(root) {
    this.root = root;
    [this.field, this.front, this.top] = ["field", "samples", "top"].map((id) => root.querySelector("#" + id));
    this.small = document.createElement("canvas");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.dress(); this.redraw(); });
    new ResizeObserver(() => { this.fit(); this.redraw(); }).observe(root);
    this.redraw = () => {};
    this.dress();
    this.fit();
  }

  dress() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue("--" + name).trim();
    this.colours = ["a", "b", "c", "d", "e"].map(read);
    Object.assign(this, { ground: read("plane"), ink: read("boundary"), soft: read("soft"), accent: read("accent"), alarm: read("alarm") });
    this.sprites = null;
  }

  fit() {
    this.w = this.root.clientWidth; this.h = this.root.clientHeight;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    for (const canvas of [this.front, this.top]) {
      canvas.width = Math.round(this.w * this.ratio); canvas.height = Math.round(this.h * this.ratio);
    }
    this.field.width = this.w; this.field.height = this.h;
    this.radius = this.w < 500 ? 5 : 6.5;
    this.sprites = null;
  }

  toX(x) { return ((x + WIDTH) / (2 * WIDTH)) * this.w; }
  toY(y) { return ((HEIGHT - y) / (2 * HEIGHT)) * this.h; }
  place(event) {
    const box = this.top.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * 2 * WIDTH - WIDTH, HEIGHT - ((event.clientY - box.top) / box.height) * 2 * HEIGHT];
  }
  get unit() { return (2 * WIDTH) / this.w; } // of the plane, per pixel

  begin(canvas) {
    const pen = canvas.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.w, this.h);
    return pen;
  }

  // ---- the model --------------------------------------------------------------------------------------

  drawField(picture, layers, confidence) {
    const pen = this.field.getContext("2d");
    pen.fillStyle = this.ground;
    pen.fillRect(0, 0, this.w, this.h);
    if (layers.has("sets") && picture?.p_values) return this.drawSets(picture, confidence.share);
    if (layers.has("sets") && picture?.intervals) return this.drawBand(picture, confidence.which, layers.has("constant") ? "constant" : "local");
    if (!picture?.values || !picture.classes || !layers.has("shade")) return;
    const [w, h] = picture.grid, image = new ImageData(w, h), pixels = new Int32Array(image.data.buffer);
    if (picture.outputs === 1) this.shadeTwo(picture, pixels, w, h);
    else this.shadeMany(picture, pixels, w, h);
    this.small.width = w; this.small.height = h;
    this.small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = true;
    pen.drawImage(this.small, 0.5, 0.5, w - 1, h - 1, 0, 0, this.w, this.h); // nodes lie on the border
  }

  shadeTwo({ values, scale, classes }, pixels, w, h) {
    const ground = rgb(this.ground), [low, high] = classes.map((label) => rgb(this.colours[label]));
    const table = Int32Array.from({ length: 256 }, (_, i) => {
      const p = i / 255, share = Math.abs(2 * p - 1);
      return packed(mix(ground, p > 0.5 ? high : low, 0.05 + 0.5 * share ** 1.4));
    });
    for (let j = 0; j < h; j++) {
      const row = (h - 1 - j) * w; // rows come from below
      for (let i = 0; i < w; i++) pixels[row + i] = table[Math.round(255 / (1 + Math.exp(-scale * values[j * w + i])))];
    }
  }

  shadeMany({ values, scale, classes, outputs }, pixels, w, h) {
    const ground = rgb(this.ground), colours = classes.map((label) => rgb(this.colours[label])), size = w * h;
    for (let j = 0; j < h; j++) {
      for (let i = 0; i < w; i++) {
        const at = j * w + i;
        let largest = -Infinity, total = 0, r = 0, g = 0, b = 0;
        for (let k = 0; k < outputs; k++) largest = Math.max(largest, values[k * size + at]);
        for (let k = 0; k < outputs; k++) {
          const p = Math.exp(scale * (values[k * size + at] - largest));
          total += p; r += p * colours[k][0]; g += p * colours[k][1]; b += p * colours[k][2];
        }
        const share = 0.05 + 0.5 * (Math.max(0, 1 / total - 1 / outputs) / (1 - 1 / outputs)) ** 1.2;
        pixels[(h - 1 - j) * w + i] = packed(mix(ground, [r / total, g / total, b / total], share));
      }
    }
  }

  // Where the p-values of one, several or no class exceed 1 − confidence: its colour, stripes, or dots.
  drawSets({ p_values: p, rough: [w, h], classes }, confidence) {
    const W = this.w, H = this.h, image = new ImageData(W, H), pixels = new Int32Array(image.data.buffer), size = w * h;
    const ground = rgb(this.ground), colours = classes.map((label) => packed(mix(ground, rgb(this.colours[label]), 0.5)));
    const plain = packed(ground), dot = packed(mix(ground, rgb(this.soft), 0.8)), members = [];
    for (let y = 0; y < H; y++) {
      const v = Math.min(((H - 1 - y) / (H - 1)) * (h - 1), h - 1.001), j = Math.floor(v), t = v - j;
      for (let x = 0; x < W; x++) {
        const u = Math.min((x / (W - 1)) * (w - 1), w - 1.001), i = Math.floor(u), s = u - i, at = j * w + i;
        members.length = 0;
        for (let k = 0; k < classes.length; k++) {
          const a = k * size + at, low = p[a] + s * (p[a + 1] - p[a]), high = p[a + w] + s * (p[a + w + 1] - p[a + w]);
          if (low + t * (high - low) > 1 - confidence) members.push(k);
        }
        if (members.length) pixels[y * W + x] = colours[members[Math.floor((x + y) / 6) % members.length]];
        else pixels[y * W + x] = x % 10 < 2 && y % 10 < 2 ? dot : plain;
      }
    }
    this.field.getContext("2d").putImageData(image, 0, 0);
  }

  // The band of intervals of a curve of one width, at one of the confidences.
  drawBand({ intervals, confidences, widths }, which, width) {
    const pen = this.field.getContext("2d"), count = intervals.length / widths.length / confidences.length / 2;
    const at = 2 * count * (widths.indexOf(width) * confidences.length + which);
    const x = (i) => (i / (count - 1)) * this.w, y = (value) => this.toY(Math.max(-9, Math.min(9, value)));
    pen.beginPath();
    for (let i = 0; i < count; i++) pen.lineTo(x(i), y(intervals[at + 2 * i]));
    for (let i = count - 1; i >= 0; i--) pen.lineTo(x(i), y(intervals[at + 2 * i + 1]));
    pen.globalAlpha = 0.2; pen.fillStyle = this.accent; pen.fill(); pen.globalAlpha = 1;
  }

  // Level lines of one or several outputs, where the decision changes.
  boundary(pen, { values, grid, outputs }, level = 0) {
    const [w, h] = grid, toX = (i) => (i / (w - 1)) * this.w, toY = (j) => this.h - (j / (h - 1)) * this.h;
    pen.beginPath();
    if (outputs === 1) trace(pen, values, w, h, level, toX, toY);
    else for (let k = 0; k < outputs; k++) trace(pen, lead(values, outputs, k, w * h), w, h, 0, toX, toY);
    pen.stroke();
  }

  curve(pen, values) {
    pen.beginPath();
    values.forEach((y, i) => pen.lineTo((i / (values.length - 1)) * this.w, this.toY(y)));
    pen.stroke();
  }

  lines(pen, picture) {
    pen.strokeStyle = this.ink; pen.lineJoin = pen.lineCap = "round"; pen.lineWidth = 2.2;
    if (!picture.classes) return this.curve(pen, picture.values);
    this.boundary(pen, picture);
    if (picture.outputs === 1 && picture.scale > 0) {
      pen.lineWidth = 0.9; pen.globalAlpha = 0.55; pen.setLineDash([5, 5]);
      for (const p of [0.9, 0.1]) this.boundary(pen, picture, Math.log(p / (1 - p)) / picture.scale);
      pen.setLineDash([]); pen.globalAlpha = 1;
    }
  }

  memberships(pen, { membership, novelty, threshold, classes }) {
    const w = 64, h = 48, size = w * h, toX = (i) => (i / (w - 1)) * this.w, toY = (j) => this.h - (j / (h - 1)) * this.h;
    pen.fillStyle = this.soft;
    for (let j = 0; j < h; j += 2) for (let i = (j / 2) % 2; i < w; i += 2) {
      if (novelty[j * w + i] > threshold) pen.fillRect(toX(i) - 0.8, toY(j) - 0.8, 1.6, 1.6);
    }
    classes.forEach((label, k) => {
      pen.strokeStyle = this.colours[label];
      for (const level of [0.2, 0.5, 0.8]) {
        pen.lineWidth = 0.8 + 1.4 * level;
        pen.beginPath();
        trace(pen, membership.subarray(k * size, (k + 1) * size), w, h, level, toX, toY);
        pen.stroke();
      }
    });
  }

  // ---- samples ----------------------------------------------------------------------------------------

  sprite(label) {
    this.sprites ??= this.colours.map((colour, which) => {
      const size = Math.ceil(4 * this.radius * this.ratio), canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
      canvas.width = canvas.height = size;
      pen.translate(size / 2, size / 2);
      pen.beginPath();
      for (const [x, y] of outline(which, this.radius * this.ratio)) pen.lineTo(x, y);
      pen.closePath();
      pen.lineJoin = "round";
      pen.lineWidth = 2 * 1.6 * this.ratio; pen.strokeStyle = this.ground; pen.stroke();
      pen.fillStyle = colour; pen.fill();
      return canvas;
    });
    return this.sprites[label];
  }

  drawSamples(rows, picture, layers) {
    const pen = this.begin(this.front), size = 4 * this.radius;
    if (picture?.values) this.lines(pen, picture);
    if (layers.has("membership") && picture?.membership) this.memberships(pen, picture);
    const places = new Map(Array.from(picture?.ids ?? [], (id, i) => [id, i]));
    for (const row of rows) {
      const x = this.toX(row.x), y = this.toY(row.y), at = places.get(row.id);
      pen.drawImage(this.sprite(row.label), x - size / 2, y - size / 2, size, size);
      if (at === undefined) continue;
      if (layers.has("support") && picture.support?.[at] > 1e-9) {
        pen.fillStyle = this.ground;
        pen.beginPath(); pen.arc(x, y, 1.2 + 0.5 * this.radius * Math.sqrt(picture.support[at]), 0, 7); pen.fill();
      }
      if (layers.has("doubt") && picture.margin?.[at] < 0) {
        pen.strokeStyle = this.ink; pen.lineWidth = 2;
        pen.beginPath(); pen.arc(x, y, this.radius + 5, 0, 7); pen.stroke();
      }
    }
  }

  // ---- what the pointer does --------------------------------------------------------------------------

  drawTop({ lasso, cursor, ghost, over }) {
    const pen = this.begin(this.top);
    if (ghost?.values) {
      pen.strokeStyle = this.accent; pen.lineWidth = 2.4; pen.setLineDash([7, 5]);
      if (ghost.grid[1] === 1) this.curve(pen, ghost.values);
      else this.boundary(pen, ghost);
      pen.setLineDash([]);
    }
    if (over) {
      pen.strokeStyle = this.accent; pen.lineWidth = 2;
      pen.beginPath(); pen.arc(this.toX(over.x), this.toY(over.y), this.radius + 4, 0, 7); pen.stroke();
    }
    if (lasso?.length > 1) {
      pen.beginPath();
      for (const [x, y] of lasso) pen.lineTo(this.toX(x), this.toY(y));
      pen.closePath();
      pen.strokeStyle = this.ink; pen.lineWidth = 1.5; pen.setLineDash([4, 4]); pen.stroke(); pen.setLineDash([]);
      pen.globalAlpha = 0.1; pen.fillStyle = this.ink; pen.fill(); pen.globalAlpha = 1;
    }
    if (cursor) {
      const x = this.toX(cursor.x), y = this.toY(cursor.y);
      pen.strokeStyle = this.ink; pen.lineWidth = 2;
      pen.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) { pen.moveTo(x + 5 * dx, y + 5 * dy); pen.lineTo(x + 16 * dx, y + 16 * dy); }
      pen.stroke();
    }
  }
}

export function inside([x, y], polygon) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}
