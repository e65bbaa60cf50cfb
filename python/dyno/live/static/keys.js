// The keyboard.

import { $ } from "/static/dom.js";

export function keys({ pause, reset, theme, range, zoomTo }) {
  const next = (id) => {
    const select = $(id);
    select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
    select.dispatchEvent(new Event("change"));
  };
  const move = (share) => { const [from, to] = range(); zoomTo(from + share * (to - from), to + share * (to - from)); };
  const scale = (factor) => { const [from, to] = range(), middle = (from + to) / 2, half = factor * (to - from) / 2; zoomTo(middle - half, middle + half); };
  const actions = {
    " ": pause, 0: reset, d: theme, o: () => next("operation"), v: () => next("volume"),
    ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => scale(0.5), "-": () => scale(2),
    "?": () => $("keys").showModal(),
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("select, input, dialog");
    const pressing = event.key === " " && event.target.closest?.("button");
    const action = actions[event.key];
    if (!action || typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}
