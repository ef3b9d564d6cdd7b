// A game against the engine, and a board to analyse one on. The moves are in the address (after #), the rules are the
// server's: it says what is legal, where to click, and draws. A move is made of the places it names: click them one after
// the other. What the search thinks of a move is drawn where the move goes.
const NS = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const settings = { side: at("side"), player: at("player"), seconds: at("seconds") };
// `moves` is the whole game, `place` how many of them are on the board.
let moves = [], place = 0, board = null, chosen = [], thought = null, generation = 0, reviewing = null;
// What was thought of positions, by the moves that lead there: { first, side, best }.
const values = new Map();

function restore() {
  const told = new URLSearchParams(location.hash.slice(1));
  moves = (told.get("moves") ?? "").split(" ").filter(Boolean);
  place = Math.min(moves.length, Number(told.get("at") ?? moves.length));
  for (const [key, select] of Object.entries(settings)) {
    if (told.has(key) && [...select.options].some((option) => option.value === told.get(key))) select.value = told.get(key);
  }
  at("analyse").checked = told.get("analyse") === "on" && data.thinks;
}

function remember() {
  const told = new URLSearchParams();
  for (const [key, select] of Object.entries(settings)) told.set(key, select.value);
  if (at("analyse").checked) told.set("analyse", "on");
  if (place < moves.length) told.set("at", place);
  if (moves.length) told.set("moves", moves.join(" "));
  history.replaceState(null, "", `#${told}`);
}

const element = (name, attributes, parent) => {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent?.appendChild(node);
  return node;
};
const key = (count) => moves.slice(0, count).join(" ");
const address = (what, more, count = place) => `/api/${what}?${new URLSearchParams({ game: data.game, moves: key(count), ...more })}`;
const name = (side) => board?.sides?.[side === "first" ? 0 : 1]?.name ?? side;
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const live = () => place === moves.length;
const mine = () => !live() || at("analyse").checked || settings.side.value === "both" || settings.side.value === board.to_move;

// Sets the board up after the moves so far, and lets the engine move if it is its turn.
async function update() {
  const mark = ++generation;
  stop();
  remember();
  chosen = [];
  let answer;
  try {
    answer = await (await fetch(address("board"))).json();
  } catch {
    return say("The server does not answer. Reload the page when it is back; the game is kept in the address.");
  }
  if (mark !== generation) return;
  if (answer.error) {
    say(answer.error);
    if (moves.length) { moves = []; place = 0; update(); }
    return;
  }
  const first = !board;
  board = answer;
  if (first) names();
  draw();
  line();
  at("undo").disabled = !moves.length;
  document.body.dataset.moves = place;
  document.body.dataset.turn = board.over ? "over" : mine() ? "you" : "engine";
  if (board.over) {
    values.set(key(place), { first: { first: 1, second: 0, draw: 0.5 }[board.over], side: board.to_move });
    const own = ["first", "second"].includes(settings.side.value);
    const how = board.over === "draw" ? "A draw." : own
      ? (board.over === settings.side.value ? "You have won." : "The engine has won.") : `${capital(name(board.over))} has won.`;
    say(`The game is over. ${how}`);
    return balance();
  }
  balance();
  if (mine() || !data.thinks) {
    say(at("analyse").checked || !live() ? `${capital(name(board.to_move))} to move, after ${place} moves.` : `Your move: you are ${name(board.to_move)}. ${board.legal.length} moves are legal.`);
    if (at("analyse").checked) think(false);
    return;
  }
  say("The engine thinks …");
  think(true);
}

function say(text) { at("standing").textContent = text; }

// The sides as this board calls them.
function names() {
  for (const side of ["first", "second"]) {
    at(`${side}-name`).textContent = name(side);
    const option = [...settings.side.options].find(({ value }) => value === side);
    if (option && name(side) !== side) option.textContent = `${name(side)} (${side})`;
  }
  if (!board.sides) return;
  at("value").style.setProperty("--one", board.sides[0].colour);
  at("value").style.setProperty("--two", board.sides[1].colour);
}

function balance() {
  const known = values.get(key(place));
  if (!known) return;
  at("value").style.setProperty("--first", `${(100 * known.first).toFixed(1)}%`);
  at("value").dataset.first = known.first.toFixed(3);
}

function draw() {
  const host = at("board");
  if (board.svg) {
    const svg = document.importNode(new DOMParser().parseFromString(board.svg, "image/svg+xml").documentElement, true);
    host.replaceChildren(svg);
    spots(svg);
  } else {
    const pre = document.createElement("pre");
    pre.textContent = board.text;
    host.replaceChildren(pre);
  }
  const able = !board.over && (mine() || !data.thinks);
  at("legal").replaceChildren(...board.legal.map(({ word }) => Object.assign(document.createElement("option"), { value: word })));
  // Moves that name no place of the board, or a board that cannot be clicked: buttons.
  const plain = board.legal.filter(({ path }) => !path.length).slice(0, 80);
  at("buttons").replaceChildren(...(able ? plain : []).map(({ word }) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: word });
    button.addEventListener("click", () => play(word));
    return button;
  }));
  Object.assign(at("slider"), { max: moves.length, value: place });
  at("where").textContent = `${place} of ${moves.length}`;
  at("begin").disabled = at("back").disabled = place === 0;
  at("end").disabled = at("forth").disabled = live();
}

// Moves that begin with the places chosen so far.
const begun = (path) => chosen.every((name, i) => path[i] === name);
const open = () => board.legal.filter(({ path }) => path.length > chosen.length && begun(path));

function spots(svg) {
  if (board.over || !(mine() || !data.thinks)) return;
  const able = new Set(open().map(({ path }) => path[chosen.length]));
  const starts = new Set(board.legal.map(({ path }) => path[0]));
  for (const [name, x, y, r] of board.spots) {
    const isChosen = chosen.includes(name), isTarget = able.has(name);
    if (!isChosen && !isTarget && !starts.has(name)) continue;
    const spot = element("circle", { cx: x, cy: y, r: r * 0.92, role: "button", tabindex: 0, "data-spot": name }, svg);
    spot.setAttribute("class", `spot${isChosen ? " chosen" : ""}${isTarget && chosen.length ? " target" : ""}`);
    spot.setAttribute("aria-label", isChosen ? `${name}, chosen` : isTarget && chosen.length ? `to ${name}` : name);
    spot.addEventListener("click", () => choose(name));
    spot.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(name); }
      if (event.key === "Escape") { chosen = []; draw(); }
    });
  }
}

function choose(name) {
  const able = open().filter(({ path }) => path[chosen.length] === name);
  if (!able.length) chosen = chosen.includes(name) ? [] : board.legal.some(({ path }) => path[0] === name) ? [name] : [];
  else {
    chosen = [...chosen, name];
    const whole = able.find(({ path }) => path.length === chosen.length);
    if (whole) return play(whole.word);
  }
  draw();
  at("board").querySelector(`[data-spot="${CSS.escape(name)}"]`)?.focus();
}

// A move on the board: the next of the game, or another one in its place.
function play(word) {
  if (moves[place] !== word) {
    reviewing?.();
    moves = [...moves.slice(0, place), word];
  }
  place += 1;
  update();
}

function go(to) {
  const there = Math.min(moves.length, Math.max(0, to));
  if (there === place) return;
  place = there;
  update();
}

function stop() {
  if (thought) thought.close();
  thought = null;
}

// Shows what the search thinks of the position; plays its move if asked to.
function think(playing) {
  stop();
  const mark = generation, here = key(place);
  thought = new EventSource(address("think", { player: settings.player.value, seconds: settings.seconds.value }));
  thought.addEventListener("waiting", () => say("The engine is busy with another game; yours is next …"));
  thought.addEventListener("thought", (event) => opinion(JSON.parse(event.data), here, !playing));
  thought.addEventListener("move", (event) => {
    stop();
    const told = JSON.parse(event.data);
    opinion(told, here, !playing);
    if (mark !== generation || !told.best) return;
    if (playing) play(told.best);
    else if (!at("analyse").checked) say(`It would play ${told.best}.`);
    document.body.dataset.thought = place;
  });
  thought.addEventListener("refused", (event) => { stop(); say(JSON.parse(event.data).why); });
  thought.onerror = () => {
    stop();
    if (mark === generation) say("The connection was lost while the engine thought. Take back or reload to go on.");
  };
}

const percent = (line) => line.proved ?? `${(100 * line.value).toFixed(1)} %`;

function keep(told, where) {
  const first = told.side === "first" ? told.value : 1 - told.value;
  values.set(where, { first, side: told.side, best: told.lines[0]?.moves[0], value: told.value });
}

function opinion(told, where, open) {
  keep(told, where);
  balance();
  graph();
  const rate = told.playouts / Math.max(told.seconds, 1e-6);
  at("opinion").textContent = `${told.proved ? `A proved ${told.proved}` : percent(told)} for ${name(told.side)}. ` +
    `${told.playouts.toLocaleString("en-US")} simulations in ${told.seconds.toFixed(1)} s (${Math.round(rate).toLocaleString("en-US")}/s), ` +
    `${told.nodes.toLocaleString("en-US")} nodes, depth ${told.depth}.`;
  const all = Math.max(1, ...told.lines.map((line) => line.visits));
  at("lines").tBodies[0].replaceChildren(...told.lines.map((line) => {
    const row = document.createElement("tr");
    const cell = (text, name) => {
      const td = document.createElement("td");
      td.textContent = text;
      if (name) td.className = name;
      row.append(td);
      return td;
    };
    cell(line.moves[0], "move");
    cell(line.visits.toLocaleString("en-US"), "number");
    const meter = document.createElement("meter");
    Object.assign(meter, { min: 0, max: all, value: line.visits });
    cell("", "share").append(meter);
    cell(percent(line), "number");
    cell(line.moves.slice(1, 7).join(" "), "then");
    return row;
  }));
  // Whoever plays against the engine is not shown what it considers, unless asked for.
  if (where === key(place) && (open || settings.side.value === "none")) candidates(told, all);
}

// The moves that are considered, drawn where they go: the value in per cent for who moves, the more visited the stronger.
function candidates(told, all) {
  const svg = at("board").querySelector("svg");
  if (!svg) return;
  svg.querySelector(".candidates")?.remove();
  const group = element("g", { class: "candidates", "aria-hidden": "true" });
  const places = new Map(board.spots.map(([name, x, y]) => [name, [x, y]]));
  const r = board.spots[0]?.[3] ?? 20, taken = new Set();
  told.lines.slice(0, 8).forEach((line, i) => {
    const legal = board.legal.find(({ word }) => word === line.moves[0]);
    if (!legal?.to || (i > 0 && line.visits < Math.max(2, all / 100))) return; // a visit or two say nothing
    const [x, y] = legal.to, rank = i === 0 ? "best" : "other";
    const strength = i === 0 ? 0.95 : (0.35 + 0.5 * Math.sqrt(line.visits / all)).toFixed(2);
    if (legal.path.length > 1) {
      const [a, b] = places.get(legal.path[0]), long = Math.hypot(x - a, y - b);
      const cut = (end) => [a + (x - a) * end, b + (y - b) * end];
      const [c, d] = cut(Math.max(0, 1 - (0.8 * r) / long));
      element("path", { class: `way ${rank}`, d: `M${a} ${b}L${c} ${d}`, "stroke-width": r * 0.16, opacity: strength }, group);
    }
    if (taken.has(`${x} ${y}`)) return;
    taken.add(`${x} ${y}`);
    element("circle", { class: rank, cx: x, cy: y, r: r * 0.84, "fill-opacity": strength }, group);
    const text = element("text", { x, y, "font-size": r * 0.78 }, group);
    text.textContent = line.proved ? { win: "win", loss: "loss", draw: "draw" }[line.proved] : Math.round(100 * line.value);
    if (line.proved) text.setAttribute("font-size", r * 0.55);
    // A turn of two stones: the other one.
    if (told.lines.length === 1 && line.moves.length === 2) {
      const next = places.get(line.moves[1]);
      if (next) element("circle", { class: "next", cx: next[0], cy: next[1], r: r * 0.6, "stroke-width": r * 0.14 }, group);
    }
  });
  // Below the places to click.
  const spot = svg.querySelector(".spot");
  if (spot) svg.insertBefore(group, spot); else svg.appendChild(group);
  document.body.dataset.candidates = taken.size;
}

// How much of the value for who moved was lost by a move: who reads annotated games knows the signs.
const SIGNS = [[0.3, "??", "blunder"], [0.15, "?", "mistake"], [0.07, "?!", "doubtful"]];
function judged(i) {
  const before = values.get(key(i)), after = values.get(key(i + 1));
  if (!before || !after || before.best === undefined) return null;
  const loss = before.side === "first" ? before.first - after.first : after.first - before.first;
  const sign = SIGNS.find(([least]) => loss >= least);
  return sign && before.best !== moves[i] ? { sign: sign[1], kind: sign[2], loss, best: before.best } : null;
}

function line() {
  at("moves").replaceChildren(...moves.map((word, i) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    const verdict = judged(i);
    button.textContent = word + (verdict ? verdict.sign : "");
    if (verdict) {
      button.className = verdict.kind;
      button.title = `${verdict.kind}: ${(100 * verdict.loss).toFixed(0)} % lost; ${verdict.best} was better`;
    }
    if (i + 1 === place) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => go(i + 1));
    item.append(button);
    return item;
  }));
  for (const link of at("downloads").children) link.href = address(`game/${link.dataset.form}`, {}, moves.length);
  at("review").disabled = !data.thinks || !moves.length;
  graph();
}

// The chance of the first side over the moves, as far as it was looked at.
function graph() {
  const known = moves.map((_, i) => i).concat(moves.length).map((i) => [i, values.get(key(i))?.first]).filter(([, value]) => value !== undefined);
  const host = at("graph");
  host.hidden = known.length < 2;
  if (host.hidden) return;
  const width = host.clientWidth || 400, height = host.clientHeight || 150, left = 34, top = 8, bottom = height - 8;
  const x = (i) => left + (i / Math.max(1, moves.length)) * (width - left - 8), y = (value) => bottom - value * (bottom - top);
  const svg = element("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Chance of ${name("first")} over the moves` });
  for (const value of [0, 0.5, 1]) {
    element("path", { class: "grid", d: `M${left} ${y(value)}H${width - 8}` }, svg);
    element("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, svg).textContent = `${100 * value}`;
  }
  const path = known.map(([i, value], n) => `${n ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  element("path", { class: "band f0", d: `${path}L${x(known.at(-1)[0])} ${y(0)}L${x(known[0][0])} ${y(0)}Z` }, svg);
  element("path", { class: "line s0", d: path }, svg);
  element("path", { class: "cross", d: `M${x(place)} ${top}V${bottom}` }, svg);
  moves.forEach((_, i) => {
    const verdict = judged(i), after = values.get(key(i + 1));
    if (verdict) element("circle", { class: `slip ${verdict.kind}`, cx: x(i + 1), cy: y(after.first), r: 4 }, svg);
  });
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left - left) / (width - left - 8)) * moves.length));
  });
  host.replaceChildren(svg);
}

// Looks at every position of the game, one after the other, from the last one back: what was overlooked shows at once.
async function review() {
  if (reviewing) return reviewing();
  stop();
  const button = at("review"), all = moves.length;
  let source = null, done = null, ended = false;
  const end = (said) => {
    ended = true;
    reviewing = null;
    button.textContent = "Review the game";
    at("review-said").textContent = said;
    source?.close();
    done?.();
  };
  reviewing = () => end("");
  button.textContent = "Stop";
  for (let i = all; i >= 0 && !ended; i--) {
    const where = key(i);
    if (i < all ? values.get(where)?.best !== undefined : values.has(where)) continue;
    at("review-said").textContent = `Looking at the position after ${i} of ${all} moves …`;
    await new Promise((resolve) => {
      done = resolve;
      source = new EventSource(address("think", { player: settings.player.value, seconds: settings.seconds.value }, i));
      const next = () => { source.close(); resolve(); };
      source.addEventListener("move", (event) => { keep(JSON.parse(event.data), where); next(); });
      source.addEventListener("refused", next);
      source.onerror = next;
    });
    line();
  }
  if (ended) return;
  const slips = moves.map((_, i) => judged(i)).filter(Boolean);
  const count = (kind) => slips.filter((slip) => slip.kind === kind).length;
  end(`Reviewed: ${count("blunder")} blunders, ${count("mistake")} mistakes, ${count("doubtful")} doubtful moves.`);
  document.body.dataset.reviewed = all;
}

at("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  const word = at("word").value.trim();
  const found = board?.legal.find((legal) => legal.word === word);
  if (!found) return say(`'${word}' is not a legal move here${board?.legal.length ? `; ${board.legal[0].word} is` : ""}.`);
  if (!mine() && data.thinks) return say("It is the engine's move.");
  at("word").value = "";
  play(found.word);
});
at("undo").addEventListener("click", () => {
  // Up to the last move of one's own.
  const both = !["first", "second"].includes(settings.side.value) || at("analyse").checked;
  reviewing?.();
  moves = moves.slice(0, both || document.body.dataset.turn === "engine" ? -1 : -2);
  place = Math.min(place, moves.length);
  update();
});
at("new").addEventListener("click", () => { reviewing?.(); moves = []; place = 0; update(); });
at("hint").addEventListener("click", () => { if (board && !board.over && mine()) { say("The engine looks at your position …"); think(false); } });
at("review").addEventListener("click", review);
at("begin").addEventListener("click", () => go(0));
at("back").addEventListener("click", () => go(place - 1));
at("forth").addEventListener("click", () => go(place + 1));
at("end").addEventListener("click", () => go(moves.length));
at("slider").addEventListener("input", () => go(Number(at("slider").value)));
at("analyse").addEventListener("change", update);
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, [data-spot]") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowLeft") go(place - 1);
  else if (event.key === "ArrowRight") go(place + 1);
  else return;
  event.preventDefault();
});
for (const select of Object.values(settings)) select.addEventListener("change", update);
window.addEventListener("hashchange", () => { restore(); update(); });
restore();
update();
