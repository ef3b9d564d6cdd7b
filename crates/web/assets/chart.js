// A small line chart in SVG: a step line, bands, a reference line, a cursor for mouse and keyboard. It keeps a bounded
// number of points and is drawn at most once a frame, however fast data come.
const NS = "http://www.w3.org/2000/svg";
const PAD = { right: 14, top: 14, bottom: 30 };

function element(name, attributes, parent) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.appendChild(node);
  return node;
}

export function number(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const rounded = Number.isInteger(value) ? value : Number(value.toFixed(Math.abs(value) < 100 ? 3 : 2));
  return rounded.toString().replace(/^(-?\d{5,})/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}

export function brief(value) {
  const size = Math.abs(value);
  for (const [unit, sign] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (size >= unit) {
      const scaled = value / (unit === 1e4 ? 1e3 : unit);
      return `${scaled.toFixed(Math.abs(scaled) < 10 ? 2 : Math.abs(scaled) < 100 ? 1 : 0)} ${sign}`;
    }
  }
  return number(Math.round(value));
}

export function time(seconds) {
  const s = Math.max(0, seconds), two = (n) => String(Math.floor(n)).padStart(2, "0");
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${s.toFixed(0)} s`;
  if (s < 3600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${two((s / 60) % 60)}m`;
  return `${Math.floor(s / 86400)}d ${Math.floor((s / 3600) % 24)}h`;
}

// Round numbers within a span.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12) + 1e-9 * step && out.length < 20; i++) out.push(i * step);
  return out;
}

const CLOCK = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800];

// Ticks of time: steps that a clock has.
function timeTicks(low, high, count) {
  const step = CLOCK.find((s) => s >= (high - low) / count) ?? Math.ceil((high - low) / count / 604800) * 604800;
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high && out.length < 20; i++) out.push(i * step);
  return out;
}

function shortTime(s) {
  if (s === 0) return "0";
  if (s < 0.1) return `${Math.round(1000 * s)}ms`;
  if (s < 60) return `${Number(s.toFixed(1))}s`;
  if (s < 3600) return s % 60 ? `${Math.floor(s / 60)}m${Math.round(s % 60)}` : `${s / 60}m`;
  if (s < 172800) return s % 3600 ? `${Math.floor(s / 3600)}h${Math.round((s / 60) % 60)}` : `${s / 3600}h`;
  return `${Number((s / 86400).toFixed(1))}d`;
}

export class Chart {
  // options: axis ("time", "log", "playouts"), steps, zero, label(value), marks(low, high, count, even)
  constructor(host, options) {
    this.host = host;
    this.options = options;
    this.lines = []; // { kind: "line" | "band", class, points: [[x, y] or [x, low, high]] }
    this.known = null;
    this.cursor = null;
    this.pending = false;
    this.svg = element("svg", { class: "chart", "aria-hidden": "true" }, host);
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    host.appendChild(this.tip);
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener("pointermove", (event) => this.point(event.clientX - host.getBoundingClientRect().left));
    host.addEventListener("pointerleave", () => this.point(null));
    host.addEventListener("keydown", (event) => this.key(event));
    host.addEventListener("blur", () => this.point(null));
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  main() { return this.lines.find((line) => line.main) ?? this.lines[0]; }

  bounds() {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { points } of this.lines) {
      for (const [x, ...ys] of points) {
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        for (const y of ys) if (y !== null && isFinite(y)) { if (y < y0) y0 = y; if (y > y1) y1 = y; }
      }
    }
    if (!(x1 >= x0) || !(y1 >= y0)) return null;
    if (this.options.zero) y0 = Math.min(0, y0);
    // The best known score is shown unless it would flatten the curve.
    const room = y1 - y0;
    this.shown = this.known !== null && this.known <= y1 + 1.5 * room && this.known >= y0 - room ? this.known : null;
    if (this.shown !== null) { y0 = Math.min(y0, this.shown); y1 = Math.max(y1, this.shown); }
    const pad = (y1 - y0) * 0.06 || Math.abs(y1) * 0.02 || 1;
    if (this.options.axis !== "log") x0 = Math.min(0, x0); else x0 = Math.max(x0, 0.001);
    return { x0, x1: Math.max(x1, x0 + 1e-6), y0: this.options.zero ? y0 : y0 - pad, y1: y1 + pad };
  }

  // What is written along the side: [height, label].
  heights(y0, y1, count) {
    const own = this.options.marks?.(y0, y1, count, ticks);
    if (own) return own;
    const even = ticks(y0, y1, count);
    // In short, as long as that tells them apart.
    const short = Math.abs(y1) >= 1e5 && new Set(even.map(brief)).size === even.length;
    return even.map((tick) => [tick, short ? brief(tick) : number(tick)]);
  }

  paint() {
    const width = this.host.clientWidth, height = this.host.clientHeight;
    if (!width || !height) return;
    const svg = this.svg, bounds = this.bounds();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    if (!bounds) {
      const text = element("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, svg);
      text.textContent = "Nothing to draw yet";
      return;
    }
    const { x0, x1, y0, y1 } = bounds, log = this.options.axis === "log";
    const right = width - PAD.right, bottom = height - PAD.bottom;
    const many = Math.max(2, height / 60), heights = this.heights(y0, y1, many);
    // Long labels want more room on the left.
    const left = Math.max(60, 16 + 6.8 * Math.max(0, ...heights.map(([, label]) => label.length)));
    const fx = log ? (x) => Math.log(Math.max(x, x0)) : (x) => x;
    const sx = (x) => left + ((fx(x) - fx(x0)) / (fx(x1) - fx(x0) || 1)) * (right - left);
    const sy = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - PAD.top);
    this.scale = { sx, sy, x0, x1, right, bottom };
    for (const [tick, label] of heights) {
      element("path", { class: "grid", d: `M${left} ${sy(tick).toFixed(1)}H${right}` }, svg);
      const text = element("text", { x: left - 8, y: sy(tick) + 4, "text-anchor": "end" }, svg);
      text.textContent = label;
    }
    const count = Math.max(2, (right - left) / 90);
    const decades = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000].filter((t) => t >= x0 * 0.999 && t <= x1);
    const places = log ? decades.filter((_, i) => i % Math.ceil(decades.length / count) === 0)
      : this.options.axis === "playouts" ? ticks(x0, x1, count) : timeTicks(x0, x1, count);
    for (const tick of places) {
      const text = element("text", { x: sx(tick), y: bottom + 20, "text-anchor": "middle" }, svg);
      text.textContent = this.options.axis === "playouts" ? brief(tick) : shortTime(tick);
    }
    if (this.shown !== null) {
      element("path", { class: "known", d: `M${left} ${sy(this.shown).toFixed(1)}H${right}` }, svg);
    }
    for (const line of this.lines) {
      if (!line.points.length) continue;
      const trace = (column) => {
        let d = "", before = null;
        for (const point of line.points) {
          const y = point[column];
          if (y === null || y === undefined || (log && point[0] < x0 && point !== line.points.at(-1) && before === null)) continue;
          const [a, b] = [sx(point[0]).toFixed(1), sy(y).toFixed(1)];
          d += before === null ? `M${a} ${b}` : line.steps ? `H${a}V${b}` : `L${a} ${b}`;
          before = b;
        }
        return d;
      };
      if (line.kind === "band") {
        const back = [];
        for (const point of line.points) back.unshift(`${sx(point[0]).toFixed(1)} ${sy(point[2]).toFixed(1)}`);
        element("path", { class: line.class, d: `${trace(1).replaceAll(/[HV]/g, (c) => c)}L${back.join("L")}Z` }, svg);
      } else {
        element("path", { class: line.class, d: trace(1) }, svg);
      }
    }
    const last = this.main()?.points.at(-1);
    if (last && this.options.dot) element("circle", { class: "dot", cx: sx(last[0]), cy: sy(last[1]), r: 4 }, svg);
    this.mark = element("g", {}, svg);
    this.cross();
    const points = this.main()?.points ?? [];
    this.host.dataset.points = points.length;
    this.host.dataset.last = last ? `${last[0]},${last[1]}` : "";
  }

  point(x) {
    const points = this.main()?.points;
    if (x === null || !points?.length || !this.scale) this.cursor = null;
    else {
      let best = 0, distance = Infinity;
      points.forEach(([at], i) => {
        const d = Math.abs(this.scale.sx(at) - x);
        if (d < distance) [best, distance] = [i, d];
      });
      this.cursor = best;
    }
    this.cross();
  }

  key(event) {
    const points = this.main()?.points ?? [];
    const step = Math.max(1, Math.round(points.length / 100));
    const now = this.cursor ?? points.length - 1;
    const to = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: points.length - 1 }[event.key];
    if (event.key === "Escape") this.cursor = null;
    else if (to === undefined) return;
    else this.cursor = Math.min(points.length - 1, Math.max(0, to));
    event.preventDefault();
    this.cross();
  }

  cross() {
    if (!this.mark) return;
    this.mark.replaceChildren();
    const point = this.cursor === null ? null : this.main()?.points[this.cursor];
    this.tip.hidden = !point;
    if (!point) return;
    const { sx, sy, bottom } = this.scale, x = sx(point[0]), y = sy(point[1]);
    element("path", { class: "cross", d: `M${x.toFixed(1)} ${PAD.top}V${bottom}` }, this.mark);
    element("circle", { class: "dot", cx: x, cy: y, r: 4 }, this.mark);
    const where = this.options.axis === "playouts" ? `${brief(point[0])} playouts` : time(point[0]);
    this.tip.textContent = `${this.options.label(point[1])} after ${where}`;
    const half = this.tip.offsetWidth / 2;
    const left = Math.min(this.host.clientWidth - half - 4, Math.max(half + 4, x));
    this.tip.style.transform = `translate(${left - half}px, ${Math.max(0, y - 40)}px)`;
  }
}

// Every other point goes when they are too many; the last stays.
export function thin(points, max) {
  if (points.length <= max) return points;
  return points.filter((_, i) => i % 2 === 0 || i === points.length - 1);
}
