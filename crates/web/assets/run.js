// The page of a run: curves that grow, figures, improvements, and a solution that follows the best.
import { Aims } from "./aims.js";
import { Chart, brief, number, thin, time } from "./chart.js";
import { follow } from "./live.js";
import { Replay } from "./replay.js";

const POINTS_MAX = 3000, ROWS_MAX = 40;
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
let points = data.points; // [seconds, playouts, best, (low, middle, high, (entropy))]
let improvements = data.improvements, improved = data.improved, events = data.events;

const aims = new Aims(data.aims, data.known);
const marks = (low, high, count, even) => aims.marks(low, high, count, data.known ?? points.at(-1)[2], even);
const curve = new Chart(at("curve"), { axis: "time", dot: true, label: (score) => aims.told(score), marks });
const speed = new Chart(at("speed"), { axis: "time", zero: true, label: (value) => `${brief(value)}/s` });
const entropy = new Chart(at("entropy"), { axis: "time", zero: true, label: (value) => `${value.toFixed(2)} nats, as among ${Math.exp(value).toFixed(1)} moves` });
curve.known = data.known;

function rates() {
  const told = points.filter(([, playouts]) => playouts !== null);
  const out = [];
  // A window of at least a second and a fiftieth of the run: single seconds are noise.
  const window = Math.max(1, (told.at(-1)?.[0] ?? 0) / 50);
  let from = 0;
  for (let i = 1; i < told.length; i++) {
    while (from + 1 < i && told[i][0] - told[from + 1][0] >= window) from++;
    const span = told[i][0] - told[from][0];
    if (span > 0) out.push([told[i][0], Math.max(0, (told[i][1] - told[from][1]) / span)]);
  }
  return out;
}

function draw() {
  const axis = document.querySelector("input[name=axis]:checked").value;
  curve.options.axis = axis;
  const x = axis === "playouts" ? 1 : 0;
  const seen = points.filter((point) => point[x] !== null && point[2] !== null);
  const lines = [];
  if (data.kin && axis !== "playouts") {
    lines.push({ kind: "band", class: "band f1", steps: true, points: data.kin.map(([t, low, , high]) => [t, low, high]) });
    lines.push({ kind: "line", class: "line thin s1", steps: true, points: data.kin.map(([t, , middle]) => [t, middle]) });
  }
  const banded = seen.filter((point) => point.length > 3 && point[3] !== null);
  if (banded.length) {
    lines.push({ kind: "band", class: "band f0", points: banded.map((p) => [p[x], p[3], p[5]]) });
    lines.push({ kind: "line", class: "line thin s0", points: banded.map((p) => [p[x], p[4]]) });
  }
  const key = at("streams-key");
  if (key) key.hidden = !banded.length;
  lines.push({ kind: "line", class: "line s0", steps: true, main: true, points: seen.map((p) => [p[x], p[2]]) });
  curve.lines = lines;
  curve.draw();
  const rate = rates();
  speed.lines = [{ kind: "line", class: "line s2", points: rate }];
  speed.draw();
  const sure = points.filter((point) => point.length > 6).map((point) => [point[0], point[6]]);
  at("entropy-card").hidden = !sure.length;
  entropy.lines = [{ kind: "line", class: "line s3", points: sure }];
  if (sure.length) entropy.draw();
  at("kin-key").hidden = !data.kin;
  if (data.kin) at("kin-count").textContent = data.kin_count;
  figures(rate);
}

function figures(rate) {
  const last = points.at(-1);
  if (!last) return;
  at("best").textContent = aims.told(last[2]);
  at("time").textContent = time(last[0]);
  if (last[1] !== null) at("playouts").textContent = brief(last[1]);
  if (rate.length) at("rate").textContent = brief(rate.at(-1)[1]);
  at("improved").textContent = number(improved);
  if (improvements.length) at("last").textContent = `last at ${time(improvements.at(-1)[0])}`;
  if (data.known !== null) {
    at("gap").textContent = aims.stands(last[2]);
  }
  document.body.dataset.events = events;
}

function rows(table, values) {
  const body = table.tBodies[0];
  body.replaceChildren(...values.map((cells) => {
    const row = document.createElement("tr");
    for (const cell of cells) {
      const td = document.createElement("td");
      td.className = "number";
      td.textContent = cell;
      row.append(td);
    }
    return row;
  }));
}

function lists() {
  rows(at("found"), improvements.slice(-ROWS_MAX).reverse().map(([t, score, stream]) => [time(t), aims.told(score), stream ?? ""]));
  const details = at("points").closest("details");
  if (details.open) {
    const step = Math.max(1, Math.ceil(points.length / 100));
    rows(at("points"), points.filter((_, i) => i % step === 0 || i === points.length - 1)
      .map(([t, playouts, best]) => [time(t), playouts === null ? "" : number(Math.round(playouts)), aims.told(best)]));
  }
}

const replay = at("replay") ? new Replay(at("replay")) : null;

function state(news) {
  const pill = document.createElement("span");
  pill.className = `pill ${news.name}`;
  pill.dataset.state = news.name;
  pill.textContent = news.name;
  at("state").replaceChildren(pill);
  at("state-text").textContent = news.text;
}

for (const input of document.querySelectorAll("input[name=axis]")) input.addEventListener("change", draw);
at("points").closest("details").addEventListener("toggle", lists);
draw();
lists();

// The runs of other seeds go on too: their band is asked for again now and then, and only while somebody looks.
const KIN_EVERY = 10_000;
setInterval(async () => {
  if (document.hidden) return;
  try {
    const fresh = await (await fetch(data.kin_address)).json();
    if (JSON.stringify(fresh.kin) === JSON.stringify(data.kin)) return;
    Object.assign(data, fresh);
    draw();
  } catch {
    // The server is away; the next time may do.
  }
}, KIN_EVERY);

follow(data.live, String(data.offset), {
  news(news) {
    if (news.points) {
      const from = points.at(-1)?.[0] ?? -1;
      points.push(...news.points.filter((point) => point[0] >= from));
      points = thin(points, POINTS_MAX);
      improvements = improvements.concat(news.improvements).slice(-ROWS_MAX);
      improved += news.improved;
      events += news.events;
      draw();
      lists();
    }
    if (news.state) state(news.state);
    if (news.record) {
      if (replay) replay.renew();
      else location.reload();
    }
  },
  reset() { location.reload(); },
});
