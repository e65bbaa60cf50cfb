// The whole run on one line, with the range that the charts show: drag over it to choose another.

import uPlot from "/static/vendor/uPlot.esm.js";
import { colour, el } from "/static/dom.js";
import { view } from "/static/source.js";
import { Chart, SECONDS } from "/static/charts.js";
import { clock } from "/static/format.js";

const EVERY_MS = 5000;

export class Overview {
  constructor(place, zoomed) {
    this.place = el("div", { class: "plot-overview" });
    place.append(this.place);
    this.zoomed = zoomed;
    this.plot = null;
    this.asked = -Infinity;
    this.data = null;
  }

  async update(tick, range, { operation, volume }) {
    this.range = range;
    if (performance.now() - this.asked > EVERY_MS || !tick.loaded || !this.data) {
      this.asked = performance.now();
      const found = await view({ from: 0, to: Math.max(tick.end, 1), bins: 400, operation, volume: volume || "-" });
      const chart = found.charts.find((one) => one.id === "throughput")
        ?? found.charts.find((one) => one.id === "cpu");
      if (!chart) return;
      const sum = found.times.map((_, at) => chart.values.reduce((all, line) => (line[at] === null ? all : all + line[at]), 0));
      this.data = [found.times, sum];
      this.end = Math.max(tick.end, 1);
    }
    this.draw();
  }

  draw() {
    if (!this.data) return;
    if (!this.plot) this.#create();
    else this.plot.setData(this.data, false);
    this.plot.setScale("x", { min: 0, max: this.end });
  }

  forget() {
    this.data = null;
    this.asked = -Infinity;
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    this.draw();
  }

  resize() {
    this.plot?.setSize({ width: Math.max(120, this.place.clientWidth), height: 64 });
  }

  #create() {
    const ink = colour("--muted"), line = colour("--c-0"), grid = colour("--grid");
    this.plot = new uPlot({
      width: Math.max(120, this.place.clientWidth), height: 64, legend: { show: false }, padding: [4, 30, 0, 30],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: { x: { time: false, auto: false }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
      axes: [
        { stroke: ink, size: 24, space: 80, incrs: SECONDS, grid: { stroke: grid }, ticks: { stroke: grid }, font: "12px system-ui", values: (u, splits) => splits.map((at) => clock(Chart.origin + at * 1000)) },
        { show: false },
      ],
      series: [{}, { points: { show: false }, stroke: line, fill: `${line}55`, width: 1 }],
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 3) this.zoomed(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        draw: [(u) => this.#shade(u)],
      },
    }, this.data, this.place);
  }

  // Greys out what the charts do not show.
  #shade(u) {
    const [from, to] = this.range ?? [0, this.end];
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = `${colour("--muted")}40`;
    const left = Math.max(bbox.left, u.valToPos(from, "x", true)), right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    ctx.fillRect(bbox.left, bbox.top, Math.max(0, left - bbox.left), bbox.height);
    ctx.fillRect(right, bbox.top, Math.max(0, bbox.left + bbox.width - right), bbox.height);
    ctx.restore();
  }
}
