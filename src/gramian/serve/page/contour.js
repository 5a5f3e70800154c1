// Level lines of a grid of values, by marching squares with linear interpolation.

// Where an edge of a cell is crossed, per case of signs: pairs of edges 0 bottom, 1 right, 2 top, 3 left.
const CASES = [[], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], [[3, 2], [0, 1]], [[0, 2]], [[3, 2]],
  [[2, 3]], [[2, 0]], [[2, 1], [0, 3]], [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], []];

// Adds to the path the line values = level; values (h × w) lie on the nodes of the grid, rows from below.
export function trace(path, values, w, h, level, toX, toY) {
  for (let j = 0; j + 1 < h; j++) {
    for (let i = 0; i + 1 < w; i++) {
      const k = j * w + i;
      const a = values[k] - level, b = values[k + 1] - level, c = values[k + w + 1] - level, d = values[k + w] - level;
      const which = (a > 0) | ((b > 0) << 1) | ((c > 0) << 2) | ((d > 0) << 3);
      if (which === 0 || which === 15) continue;
      for (const [from, to] of CASES[which]) {
        for (const edge of [from, to]) {
          let x = i, y = j;
          if (edge === 0) x += a / (a - b);
          else if (edge === 1) { x += 1; y += b / (b - c); }
          else if (edge === 2) { x += d / (d - c); y += 1; }
          else y += a / (a - d);
          if (edge === from) path.moveTo(toX(x), toY(y));
          else path.lineTo(toX(x), toY(y));
        }
      }
    }
  }
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
