// What the server knows: the run, the charts of a range, and what is new.

export async function head() {
  return (await asked("/api/head")).json();
}

export async function view({ from, to, bins, operation, volume }) {
  const query = new URLSearchParams({ from, to, bins, operation });
  if (volume) query.append("volume", volume);
  return decoded(await (await asked(`/api/view?${query}`)).arrayBuffer());
}

async function asked(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

// The length of a head, the head as JSON, then float32 values; a gap is NaN, which charts take as null.
function decoded(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const found = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const { start, width, bins } = found;
  const times = Array.from({ length: bins }, (_, at) => start + (at + 0.5) * width);
  let offset = 4 + length;
  for (const chart of found.charts) {
    chart.values = chart.names.map(() => {
      const column = Array.from(new Float32Array(buffer, offset, bins), gap);
      offset += 4 * bins;
      return column;
    });
  }
  return { times, width, charts: found.charts };
}

const gap = (value) => (Number.isNaN(value) ? null : value);

// Calls `told` for each tick. The browser connects again by itself, from the last event that it got.
export function stream(told, connected) {
  const events = new EventSource("/api/stream");
  events.addEventListener("tick", (event) => told(JSON.parse(event.data)));
  events.addEventListener("open", () => connected(true));
  events.addEventListener("error", () => connected(false));
  return events;
}
