// The samples on the page, what can be undone, and the address that holds all of it.

export const LATTICE = 8192; // coordinates are multiples of 1/LATTICE, as the address stores them
export const WIDTH = 2, HEIGHT = 1.5;

const snap = (value, end) => Math.round(Math.max(-end, Math.min(end, value)) * LATTICE) / LATTICE;

export class Samples {
  constructor() { this.reset([]); }

  reset(rows) {
    this.rows = new Map(rows.map(([id, x, y, label]) => [id, { id, x, y, label }]));
    this.next = 1 + Math.max(-1, ...this.rows.keys());
    this.past = []; this.future = [];
  }

  make(x, y, label) { return { id: this.next++, x: snap(x, WIDTH), y: snap(y, HEIGHT), label }; }

  // An edit is { learn: rows, forget: rows }. It is applied here and can be undone unless it is part of a drag.
  apply(edit, keep = true) {
    for (const row of edit.forget) this.rows.delete(row.id);
    for (const row of edit.learn) this.rows.set(row.id, row);
    if (keep) this.remember(edit);
    return edit;
  }

  remember(edit) { this.past.push(edit); this.future = []; }

  undo() { return this.step(this.past, this.future); }
  redo() { return this.step(this.future, this.past); }

  step(from, to) {
    const edit = from.pop();
    if (!edit) return null;
    const inverse = { learn: edit.forget, forget: edit.learn };
    to.push(inverse);
    return this.apply(inverse, false);
  }

  nearest(x, y, within) {
    let best = null, least = within * within;
    for (const row of this.rows.values()) {
      const distance = (row.x - x) ** 2 + (row.y - y) ** 2;
      if (distance <= least) { best = row; least = distance; }
    }
    return best;
  }

  list() { return [...this.rows.values()]; }
}

export const wire = (row) => [row.id, row.x, row.y, row.label];

// ---- the address: #m=estimator&k=kernel&g=gamma&r=ridge&l=layers&p=samples, five bytes a sample ----

export function toHash(settings, layers, rows) {
  const words = new URLSearchParams({ m: settings.estimator, k: settings.kernel, g: settings.gamma, r: settings.ridge, l: layers.join(" ") });
  const bytes = new DataView(new ArrayBuffer(5 * rows.length));
  rows.forEach((row, i) => {
    bytes.setInt16(5 * i, row.x * LATTICE);
    bytes.setInt16(5 * i + 2, row.y * LATTICE);
    bytes.setUint8(5 * i + 4, row.label);
  });
  let text = "";
  for (const byte of new Uint8Array(bytes.buffer)) text += String.fromCharCode(byte);
  words.set("p", btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
  return "#" + words;
}

// What an address holds, or null if it holds nothing that can be read.
export function fromHash(hash) {
  const words = new URLSearchParams(hash.slice(1));
  if (!words.has("p")) return null;
  try {
    const text = atob(words.get("p").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = new DataView(Uint8Array.from(text, (c) => c.charCodeAt(0)).buffer);
    const rows = Array.from({ length: Math.floor(bytes.byteLength / 5) }, (_, i) =>
      [i, bytes.getInt16(5 * i) / LATTICE, bytes.getInt16(5 * i + 2) / LATTICE, bytes.getUint8(5 * i + 4)]);
    const settings = { estimator: words.get("m"), kernel: words.get("k"), gamma: Number(words.get("g")), ridge: Number(words.get("r")) };
    return { settings, layers: (words.get("l") ?? "").split(" ").filter(Boolean), rows };
  } catch {
    return null; // not an address of this page
  }
}
