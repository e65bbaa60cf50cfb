// The parts that are no charts: headline numbers, state of the run, events.

import { $, el, options } from "/static/dom.js";
import { clock, number, seconds, withUnit } from "/static/format.js";

const MOST_EVENTS = 500;

export function about(head) {
  $("run").textContent = `${head.verb} · ${head.run}`;
  document.title = `${head.verb} · ${head.run}`;
  $("about").textContent = [head.command, ...head.targets.map((one) => one.version)].filter(Boolean).join(" · ");
  const notes = head.targets.flatMap((one) => one.notes.map((note) => `${one.name}: ${note}`));
  const problems = [...head.problems, ...notes];
  $("problems").hidden = !problems.length;
  $("problems").replaceChildren(...problems.map((text) => {
    const item = el("li");
    item.textContent = text;
    return item;
  }));
  options($("operation"), [["", "All"], ...head.operations.map((name) => [name, name])]);
  options($("volume"), [["", "Default"], ...head.volumes.map((one) => [one.name, one.roles.length ? `${one.name} (${one.roles.join(", ")})` : one.name])]);
}

const RESULTS = { valid: "✓", disturbed: "~", invalid: "✗", running: "▶", dropped: "–", planned: "·" };

export function study(found) {
  $("study").hidden = !found;
  if (!found) return;
  $("study-name").textContent = `Study ${found.name}`;
  $("study-text").textContent = found.text;
  $("schedule").replaceChildren(...found.runs.map(({ variant, state, seconds: length }) => {
    const mark = el("b"), name = el("span"), result = el("span", { class: "result" });
    mark.textContent = RESULTS[state] ?? "";
    mark.setAttribute("aria-hidden", "true");
    name.textContent = variant;
    result.textContent = length === null ? state : `${state}, ${seconds(length)}`;
    return el("li", { class: state, ...(state === "running" ? { "aria-current": "step" } : {}) }, mark, name, result);
  }));
  // Only the list moves, not the page.
  const current = $("schedule").querySelector("[aria-current]");
  if (current) $("schedule").scrollTop = current.offsetTop - $("schedule").offsetTop - 60;
}

export function state(tick, head, connected, paused) {
  const running = tick.status === "running";
  const verdict = head?.verdict ? `, ${head.verdict}` : "";
  const phase = tick.progress?.phase ?? "";
  const step = tick.progress?.text ? `: ${tick.progress.text}` : "";
  const words = {
    running: phase ? `Running: ${phase}${step}` : "Running",
    "cut off": "The run ended without closing its record: its process is gone",
    done: `Finished${verdict}`,
    failed: `Failed: ${head?.error ?? ""}`,
    interrupted: "Interrupted",
  };
  const parts = [...(tick.study ? [tick.study.step] : []), words[tick.status] ?? tick.status];
  if (!tick.loaded) parts.push("reading …");
  if (paused) parts.push("paused");
  if (!connected) parts.push("connection lost, trying again …");
  $("state").textContent = parts.join(" · ");
  $("state").classList.toggle("bad", !connected || tick.status === "cut off" || tick.status === "failed");
  headline(tick, running);
}

function headline({ headline: found, progress, end, study: whole }, running) {
  const share = progress?.total > 0 ? Math.min(1, progress.done / progress.total) : null;
  const cards = [
    ["Throughput", found.throughput, (value) => withUnit(value, "1/s")],
    ["p50", found.p50, (value) => withUnit(value, "ms")],
    ["p95", found.p95, (value) => withUnit(value, "ms")],
    ["p99", found.p99, (value) => withUnit(value, "ms")],
    ["Errors", found.errors, number],
    ["CPU", found.cpu, (value) => withUnit(value, "%")],
    ["Memory available", found.memory, (value) => withUnit(value, "B")],
    ["Phase", share, (value) => `${Math.floor(100 * value)} %`],
    ["Phase ends in", progress?.phase_left_s, seconds],
    ["Run ends in", progress?.run_left_s, seconds],
    ["Study", whole?.total > 0 ? whole.done / whole.total : null, (value) => `${Math.floor(100 * value)} %`],
    ["Study ends in", whole?.left_s, seconds],
    [running ? "Elapsed" : "Length", end, seconds],
  ];
  const shown = cards.filter(([, value]) => value !== undefined && value !== null);
  const place = $("headline");
  const same = shown.map(([label]) => label).join() === [...place.querySelectorAll("dt")].map((one) => one.textContent).join();
  if (!same) place.replaceChildren(...shown.map(([label]) => {
    const name = el("dt");
    name.textContent = label;
    return el("div", {}, name, el("dd"));
  }));
  place.querySelectorAll("dd").forEach((value, at) => {
    value.textContent = shown[at][2](shown[at][1]);
  });
}

export function events(list) {
  const place = $("events");
  for (const event of list) {
    const time = el("time"), kind = el("b"), text = el("span");
    time.textContent = clock(event.t_ns / 1e6);
    kind.textContent = event.event;
    text.textContent = event.text;
    place.prepend(el("li", {}, time, kind, text));
  }
  while (place.childElementCount > MOST_EVENTS) place.lastElementChild.remove();
}
