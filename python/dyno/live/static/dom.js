// Elements. Names of a run are untrusted: they only ever become text.

export const $ = (id) => document.getElementById(id);

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Replaces the options of a select, and keeps the choice if it is still there.
export function options(select, items) {
  const kept = select.value;
  select.replaceChildren(...items.map(([value, text]) => {
    const option = el("option", { value });
    option.textContent = text;
    return option;
  }));
  select.value = items.some(([value]) => value === kept) ? kept : items[0][0];
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
