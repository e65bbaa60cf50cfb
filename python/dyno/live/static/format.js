// Numbers with their units, short enough for an axis.

const STEPS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  for (const [step, letter] of STEPS) {
    if (size >= step * 0.9995 && size >= 10000 * 0.9995) return `${digits(value / step)}${letter}`;
  }
  return digits(value);
}

function digits(value) {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

export function withUnit(value, unit) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (unit === "B") {
    let left = value;
    for (const name of ["B", "kB", "MB", "GB", "TB"]) {
      if (Math.abs(left) < 1000 || name === "TB") return `${digits(left)} ${name}`;
      left /= 1000;
    }
  }
  if (unit === "ms" && Math.abs(value) >= 10000) return `${digits(value / 1000)} s`;
  if (unit === "1/s") return `${number(value)}/s`;
  return unit === "count" ? number(value) : `${number(value)} ${unit}`;
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  const whole = Math.max(0, Math.round(value));
  const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60, rest = whole % 60;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

const pad = (part) => String(part).padStart(2, "0");

export function clock(milliseconds) {
  const at = new Date(milliseconds);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}
