// A heat map: a column a bin of time, a row a range of latency, darker for more operations.

import { colour } from "/static/dom.js";

export function drawHeat(u, data, width) {
  const [times, ...rows] = data;
  let most = 0;
  for (const row of rows) for (const value of row) if (value > most) most = value;
  if (!most) return;
  const low = parts(colour("--heat-low")), high = parts(colour("--heat-high"));
  const scale = Math.log1p(most);
  const { ctx } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  for (let at = 0; at < times.length; at += 1) {
    const left = Math.floor(u.valToPos(times[at] - width / 2, "x", true));
    const right = Math.ceil(u.valToPos(times[at] + width / 2, "x", true));
    if (right < u.bbox.left || left > u.bbox.left + u.bbox.width) continue;
    for (let row = 0; row < rows.length; row += 1) {
      const value = rows[row][at];
      if (!value) continue;
      const share = Math.log1p(value) / scale;
      const top = u.valToPos(row + 1, "y", true), bottom = u.valToPos(row, "y", true);
      ctx.fillStyle = `rgb(${low.map((part, n) => Math.round(part + (high[n] - part) * share)).join(",")})`;
      ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
    }
  }
  ctx.restore();
}

const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
