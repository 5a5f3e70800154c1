// Level lines of a grid of values, by marching squares with linear interpolation, joined into long lines.

// Which edges of a cell a line crosses, per case of signs: 0 bottom, 1 right, 2 top, 3 left.
const CASES = [[], [3, 0], [0, 1], [3, 1], [1, 2], [3, 2, 0, 1], [0, 2], [3, 2],
  [2, 3], [2, 0], [2, 1, 0, 3], [2, 1], [1, 3], [1, 0], [0, 3], []];

// Adds the lines values = level to the path; values (h × w) lie on the nodes of the grid, rows from below.
export function trace(path, values, w, h, level, toX, toY) {
  // An edge is named by the node at its left or lower end: twice its number, plus one for a vertical edge.
  const next = new Map();
  const join = (one, other) => next.has(one) ? next.get(one).push(other) : next.set(one, [other]);
  for (let j = 0; j + 1 < h; j++) {
    for (let i = 0; i + 1 < w; i++) {
      const k = j * w + i;
      const which = (values[k] > level) | ((values[k + 1] > level) << 1) | ((values[k + w + 1] > level) << 2) | ((values[k + w] > level) << 3);
      if (which === 0 || which === 15) continue;
      const edges = [2 * k, 2 * (k + 1) + 1, 2 * (k + w), 2 * k + 1], crossed = CASES[which];
      for (let s = 0; s < crossed.length; s += 2) {
        const one = edges[crossed[s]], other = edges[crossed[s + 1]];
        join(one, other);
        join(other, one);
      }
    }
  }
  const draw = (edge, start) => {
    const node = edge >> 1, up = edge & 1, a = values[node] - level, b = values[node + (up ? w : 1)] - level, share = a / (a - b);
    const x = toX((node % w) + (up ? 0 : share)), y = toY(Math.floor(node / w) + (up ? share : 0));
    if (start) path.moveTo(x, y);
    else path.lineTo(x, y);
  };
  const follow = (edge) => {
    draw(edge, true);
    for (let at = edge, to; (to = next.get(at)?.pop()) !== undefined; at = to) {
      const back = next.get(to);
      back.splice(back.indexOf(at), 1);
      draw(to, false);
    }
  };
  for (const [edge, to] of next) if (to.length === 1) follow(edge); // lines that end at the border
  for (const [edge, to] of next) if (to.length) follow(edge); // closed ones
}

// The lead of class k over the best other one, on every node.
export function lead(scores, count, k, size) {
  const result = new Float32Array(size);
  for (let i = 0; i < size; i++) {
    let other = -Infinity;
    for (let j = 0; j < count; j++) if (j !== k && scores[j * size + i] > other) other = scores[j * size + i];
    result[i] = scores[k * size + i] - other;
  }
  return result;
}
