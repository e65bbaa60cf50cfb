// The charts: lines, stacks and heat maps with one range of time for all of them.

import uPlot from "/static/vendor/uPlot.esm.js";
import { colour, el } from "/static/dom.js";
import { clock, number, withUnit } from "/static/format.js";
import { drawHeat } from "/static/heat.js";

const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 2], [10, 4], [3, 6]];
// Steps of the time axis: its labels show whole seconds.
export const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
const SYNC = uPlot.sync("time");

export class Chart {
  // `zoomed(from, to)` is called when the user drags over a range.
  constructor(shape, small, zoomed, reset) {
    this.shape = shape;
    this.hidden = new Set();
    this.plot = null;
    this.visible = false;
    this.place = el("div", { class: "plot" });
    this.legend = shape.kind === "heat" ? this.#scale() : el("ul", { class: "legend" });
    this.heading = el("h3");
    this.figure = el("figure", { "data-chart": shape.id }, this.heading, this.place, this.legend);
    this.share = small ? 0.42 : 0.38;
    this.zoomed = zoomed;
    this.reset = reset;
  }

  // Takes new values; they are drawn when the chart is in view.
  update(times, width, chart, range) {
    const changed = chart.names.join("\n") !== this.shape.names.join("\n");
    this.shape = chart;
    this.data = [times, ...chart.values];
    this.width = width;
    this.range = range;
    this.heading.textContent = chart.unit === "count" ? chart.title : `${chart.title}, ${chart.unit}`;
    if (changed || (chart.kind !== "heat" && !this.legend.childElementCount)) this.rebuild();
    this.stale = true;
    if (this.visible) this.draw();
    else delete this.figure.dataset.range;
  }

  draw() {
    if (!this.data || !this.stale) return;
    this.stale = false;
    const drawn = this.#drawn();
    if (!this.plot) this.#create(drawn);
    else this.plot.setData(drawn, false);
    this.plot.setScale("x", { min: this.range[0], max: this.range[1] });
    this.figure.dataset.range = this.range.map((edge) => edge.toFixed(1)).join(" ");
    this.#latest();
  }

  resize() {
    if (this.plot && this.visible) this.plot.setSize(this.#size());
  }

  // Makes the plot again, as after a change of theme or of its lines.
  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.stale = true;
    if (this.shape.kind !== "heat") this.#entries();
    if (this.visible) this.draw();
  }

  #size() {
    const width = Math.max(120, this.place.clientWidth);
    return { width, height: Math.round(Math.min(340, Math.max(132, width * this.share))) };
  }

  #drawn() {
    if (this.shape.kind === "heat") return [this.data[0], this.data[0].map(() => null)];
    const lines = this.shape.names.map((name, at) => (this.hidden.has(name) ? this.data[0].map(() => null) : this.data[at + 1]));
    return this.shape.kind === "stack" ? [this.data[0], ...stacked(lines)] : [this.data[0], ...lines];
  }

  #create(data) {
    const { kind, names, unit } = this.shape;
    const heat = kind === "heat";
    const ink = colour("--muted"), grid = colour("--grid");
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui" };
    const zero = (u, low, high) => [0, high > 0 ? (unit === "%" ? Math.min(high * 1.06, Math.max(100, high)) : high * 1.08) : 1];
    const series = heat ? [{}, { show: true, paths: () => null }] : [{}, ...names.map((name, at) => this.#series(at))];
    const latency = unit === "ms" && kind === "lines";
    const bounds = this.shape.bounds;
    const y = heat
      ? { range: () => [0, names.length] }
      : latency ? { distr: 3, range: (u, low, high) => logRange(low, high) } : { range: zero };
    const splits = latency ? { splits: (u, axis, low, high) => logSplits(low, high) } : {};
    const values = heat
      ? (u, splits) => splits.map((at) => (Number.isInteger(at) ? number(Number(bounds[at].toPrecision(2))) : ""))
      : (u, splits) => splits.map((value) => (value === null ? "" : unit === "B" ? withUnit(value, "B") : number(value)));
    const bands = kind === "stack" ? names.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })) : [];
    this.plot = new uPlot({
      ...this.#size(),
      legend: { show: false },
      padding: [8, 26, 0, 0],
      cursor: { sync: { key: SYNC.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
      select: { show: true },
      scales: { x: { time: false, auto: false }, y },
      axes: [
        { ...axis, space: 70, size: 28, incrs: SECONDS, values: (u, splits) => splits.map((at) => clock(Chart.origin + at * 1000)) },
        { ...axis, ...splits, size: unit === "B" ? 62 : 54, space: 26, values },
      ],
      series,
      bands,
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 3) this.zoomed(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setCursor: [(u) => this.#values(u.cursor.idx)],
        ...(heat ? { draw: [(u) => drawHeat(u, this.data, this.width)] } : {}),
      },
    }, data, this.place);
    this.plot.over.addEventListener("dblclick", () => this.reset());
  }

  #series(at) {
    const line = colour(`--c-${slot(this.shape, at)}`);
    const stack = this.shape.kind === "stack";
    return {
      stroke: line, width: stack ? 1 : 1.6, dash: stack ? [] : DASHES[at % DASHES.length],
      fill: stack ? `${line}b0` : undefined, points: { show: stack ? false : undefined, size: 4 }, spanGaps: false,
    };
  }

  #entries() {
    this.legend.replaceChildren(...this.shape.names.map((name, at) => {
      const text = el("span"), value = el("span", { class: "value" });
      text.textContent = name;
      const pressed = String(!this.hidden.has(name));
      return el("li", {}, el("button", { type: "button", "aria-pressed": pressed, onclick: () => this.#toggle(name) },
        mark(this.shape, at), text, value));
    }));
  }

  #toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.rebuild();
  }

  #latest() {
    const times = this.data[0];
    let at = times.length - 1;
    while (at > 0 && this.data.slice(1).every((column) => column[at] === null)) at -= 1;
    this.#values(at);
  }

  #values(at) {
    if (this.shape.kind === "heat" || !this.data) return;
    if (at === null || at === undefined) return;
    this.legend.querySelectorAll(".value").forEach((place, line) => {
      place.textContent = withUnit(this.data[line + 1]?.[at], this.shape.unit);
    });
  }

  #scale() {
    const few = el("span"), many = el("span");
    few.textContent = "few";
    many.textContent = "many";
    return el("p", { class: "scale" }, few, el("i"), many);
  }
}

Chart.origin = 0;

// Each line on top of those before it.
function stacked(lines) {
  let below = null;
  return lines.map((line) => {
    below = line.map((value, at) => (value === null ? (below ? below[at] : null) : value + (below?.[at] ?? 0)));
    return below;
  });
}

function logRange(low, high) {
  if (!(high > 0)) return [0.1, 10];
  const bottom = 10 ** Math.floor(Math.log10(Math.max(low > 0 ? low : high / 100, 1e-4)));
  const top = 10 ** Math.ceil(Math.log10(high) + 1e-9);
  return [bottom, Math.max(top, bottom * 10)];
}

// Powers of ten, with 2 and 5 between them if there are few.
function logSplits(low, high) {
  const found = [], steps = high / low > 1500 ? [1] : [1, 2, 5];
  for (let power = Math.round(Math.log10(low)); 10 ** power <= high * 1.0001; power += 1) {
    for (const step of steps) if (step * 10 ** power <= high * 1.0001) found.push(step * 10 ** power);
  }
  return found;
}

/** The number of the colour of a series. */
const slot = (shape, at) => (shape.colours?.[at] ?? at) % 8;

function mark({ kind, ...rest }, at) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 18 10");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, kind === "stack" ? "rect" : "line");
  const places = kind === "stack" ? { x: 2, y: 0, width: 14, height: 10 } : { x1: 0, x2: 18, y1: 5, y2: 5 };
  for (const [name, value] of Object.entries(places)) shape.setAttribute(name, value);
  const line = `var(--c-${slot(rest, at)})`;
  if (kind === "stack") shape.style.fill = line;
  else {
    shape.style.stroke = line;
    shape.style.strokeWidth = "2.5";
    shape.style.strokeDasharray = DASHES[at % DASHES.length].join(" ");
  }
  svg.append(shape);
  return svg;
}
