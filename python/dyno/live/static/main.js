// The page: what is shown, for which range, and what the user does.

import { Chart } from "/static/charts.js";
import { $, el } from "/static/dom.js";
import { keys } from "/static/keys.js";
import { Overview } from "/static/overview.js";
import * as panels from "/static/panels.js";
import * as source from "/static/source.js";

const charts = new Map();
const groups = new Map();
let head = null, tick = null, connected = true, paused = false, zoom = null, asking = false, again = false;
let headVersion = "";

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const chart = charts.get(target.dataset.chart);
    if (!chart) continue;
    chart.visible = isIntersecting;
    if (isIntersecting) { chart.resize(); chart.draw(); }
  }
}, { rootMargin: "200px" });

// A chart may be made before the page has a layout.
const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) charts.get(target.dataset.chart)?.resize();
});

const overview = new Overview($("overview"), zoomTo);

export function range() {
  if (zoom) return zoom;
  const end = tick?.end ?? 60, span = Number($("range").value) || end;
  return [Math.max(0, end - span), Math.max(end, 1)];
}

export function zoomTo(from, to) {
  const end = tick?.end ?? to;
  const span = Math.max(5, to - from);
  const start = Math.min(Math.max(0, from), Math.max(0, end - span));
  zoom = [start, Math.min(start + span, Math.max(end, start + 5))];
  $("reset").disabled = false;
  $("range").querySelector("[value=zoom]").hidden = false;
  $("range").value = "zoom";
  show();
}

export function reset() {
  zoom = null;
  $("reset").disabled = true;
  $("range").querySelector("[value=zoom]").hidden = true;
  if ($("range").value === "zoom") $("range").value = "0";
  show();
}

export function pause() {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  $("pause").textContent = paused ? "Resume" : "Pause";
  if (paused && !zoom) zoom = range();
  else if (!paused && $("range").value !== "zoom") zoom = null;
  if (tick) panels.state(tick, head, connected, paused);
  show();
}

export function theme() {
  const dark = document.documentElement.dataset.theme !== "dark";
  apply(dark);
  try { localStorage.setItem("dyno-theme", dark ? "dark" : "light"); } catch { /* not stored */ }
}

function apply(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
  for (const chart of charts.values()) chart.rebuild();
  overview.rebuild();
}

// Fetches the charts of the range; one request at a time, the last one wins.
async function show() {
  if (!tick) return;
  if (asking) { again = true; return; }
  asking = true;
  try {
    const [from, to] = range();
    const bins = Math.min(1200, Math.max(200, Math.round(window.innerWidth / 2)));
    const chosen = { operation: $("operation").value, volume: $("volume").value };
    const found = await source.view({ from, to, bins, ...chosen });
    draw(found, [from, to]);
    await overview.update(tick, [from, to], chosen);
    document.body.dataset.shown = String(Number(document.body.dataset.shown ?? 0) + 1);
  } catch (error) {
    $("state").textContent = String(error.message ?? error);
  } finally {
    asking = false;
    if (again) { again = false; show(); }
  }
}

function draw(found, asked) {
  const wanted = new Set(found.charts.map((chart) => chart.id));
  for (const [id, chart] of charts) {
    if (wanted.has(id)) continue;
    seen.unobserve(chart.figure);
    sized.unobserve(chart.figure);
    chart.plot?.destroy();
    chart.figure.remove();
    charts.delete(id);
  }
  for (const shape of found.charts) {
    let chart = charts.get(shape.id);
    if (!chart) {
      const volume = shape.group.startsWith("Volume ");
      chart = new Chart(shape, volume, zoomTo, reset);
      charts.set(shape.id, chart);
      group(shape.group, volume).append(chart.figure);
      seen.observe(chart.figure);
      sized.observe(chart.figure);
    }
    chart.update(found.times, found.width, shape, asked);
  }
  // In the order of the server, whenever each came.
  const order = [...new Set(found.charts.map((chart) => chart.group))];
  const sections = order.map((name) => groups.get(name).parentElement);
  if (sections.some((section, at) => $("charts").children[at] !== section)) $("charts").prepend(...sections);
  for (const [name, place] of groups) {
    const figures = found.charts.filter((chart) => chart.group === name).map((chart) => charts.get(chart.id).figure);
    if (figures.some((figure, at) => place.children[at] !== figure)) place.append(...figures);
  }
  for (const [name, place] of groups) {
    if (place.querySelector("figure")) continue;
    place.parentElement.remove();
    groups.delete(name);
  }
}

function group(name, small) {
  if (!groups.has(name)) {
    const heading = el("h2"), grid = el("div", { class: small ? "grid small" : "grid" });
    heading.textContent = name;
    $("charts").append(el("section", {}, heading, grid));
    groups.set(name, grid);
  }
  return groups.get(name);
}

// The next run of a study: nothing of the one before stays.
function other() {
  $("events").replaceChildren();
  headVersion = "";
  overview.forget();
  if (zoom && !paused) reset();
}

async function told(found) {
  if (tick && found.run !== tick.run) other();
  tick = found;
  panels.events(found.events);
  const version = `${found.head}/${found.names}/${found.status}`;
  if (version !== headVersion) {
    headVersion = version;
    head = await source.head();
    Chart.origin = head.origin_ms;
    panels.about(head);
    panels.study(head.study);
  }
  panels.state(tick, head, connected, paused);
  if (!paused || !charts.size) show();
}

let chosenTheme = null;
try { chosenTheme = localStorage.getItem("dyno-theme"); } catch { /* none is stored */ }
const system = matchMedia("(prefers-color-scheme: dark)");
apply(chosenTheme ? chosenTheme === "dark" : system.matches);
system.addEventListener("change", () => { if (!chosenTheme) apply(system.matches); });
$("pause").addEventListener("click", pause);
$("reset").addEventListener("click", reset);
$("theme").addEventListener("click", theme);
$("help").addEventListener("click", () => $("keys").showModal());
for (const id of ["operation", "volume"]) $(id).addEventListener("change", show);
$("range").addEventListener("change", () => { if ($("range").value !== "zoom") reset(); });
keys({ pause, reset, theme, range, zoomTo });
let resizing = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => { for (const chart of charts.values()) chart.resize(); overview.resize(); });
});
source.stream(told, (open) => { connected = open; if (tick) panels.state(tick, head, connected, paused); });
