// A game against the engine. The moves are in the address (after #), the rules are the server's: it says what is legal,
// where to click, and draws. A move is made of the places it names: click them one after the other.
const NS = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const settings = { side: at("side"), player: at("player"), seconds: at("seconds") };
let moves = [], board = null, chosen = [], thought = null, generation = 0;

function restore() {
  const told = new URLSearchParams(location.hash.slice(1));
  moves = (told.get("moves") ?? "").split(" ").filter(Boolean);
  for (const [key, select] of Object.entries(settings)) if (told.has(key)) select.value = told.get(key);
}

function remember() {
  const told = new URLSearchParams();
  for (const [key, select] of Object.entries(settings)) told.set(key, select.value);
  if (moves.length) told.set("moves", moves.join(" "));
  history.replaceState(null, "", `#${told}`);
}

const address = (what, more) => `/api/${what}?${new URLSearchParams({ game: data.game, moves: moves.join(" "), ...more })}`;
const mine = () => settings.side.value === "both" || settings.side.value === board.to_move;

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
    if (moves.length) { moves = []; update(); }
    return;
  }
  board = answer;
  draw();
  at("moves").textContent = moves.length ? `Moves: ${moves.join(" ")}` : "";
  at("undo").disabled = !moves.length;
  document.body.dataset.moves = moves.length;
  document.body.dataset.turn = board.over ? "over" : mine() ? "you" : "engine";
  if (board.over) {
    const won = board.over === settings.side.value;
    const how = board.over === "draw" ? "A draw." : ["first", "second"].includes(settings.side.value)
      ? (won ? "You have won." : "The engine has won.") : `The ${board.over} side has won.`;
    return say(`The game is over. ${how}`);
  }
  if (mine() || !data.thinks) return say(`Your move: you are the ${board.to_move} side. ${board.legal.length} moves are legal.`);
  say("The engine thinks …");
  think(true);
}

function say(text) { at("standing").textContent = text; }

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
    const spot = document.createElementNS(NS, "circle");
    for (const [key, value] of Object.entries({ cx: x, cy: y, r: r * 0.92, role: "button", tabindex: 0, "data-spot": name })) spot.setAttribute(key, value);
    spot.setAttribute("class", `spot${isChosen ? " chosen" : ""}${isTarget && chosen.length ? " target" : ""}`);
    spot.setAttribute("aria-label", isChosen ? `${name}, chosen` : isTarget && chosen.length ? `to ${name}` : name);
    spot.addEventListener("click", () => choose(name));
    spot.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(name); }
      if (event.key === "Escape") { chosen = []; draw(); }
    });
    svg.appendChild(spot);
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

function play(word) {
  moves = [...moves, word];
  update();
}

function stop() {
  if (thought) thought.close();
  thought = null;
}

// Shows what the search thinks of the position; plays its move if asked to.
function think(playing) {
  stop();
  const mark = generation, side = board.to_move;
  thought = new EventSource(address("think", { player: settings.player.value, seconds: settings.seconds.value }));
  thought.addEventListener("waiting", () => say("The engine is busy with another game; yours is next …"));
  thought.addEventListener("thought", (event) => opinion(JSON.parse(event.data), side));
  thought.addEventListener("move", (event) => {
    stop();
    const told = JSON.parse(event.data);
    opinion(told, side);
    if (mark !== generation || !told.best) return;
    if (playing) play(told.best);
    else say(`It would play ${told.best}.`);
  });
  thought.addEventListener("refused", (event) => { stop(); say(JSON.parse(event.data).why); });
  thought.onerror = () => {
    stop();
    if (mark === generation) say("The connection was lost while the engine thought. Take back or reload to go on.");
  };
}

function opinion(told, side) {
  const percent = (line) => line.proved ?? `${(100 * line.value).toFixed(1)} %`;
  const first = side === "first" ? told.value : 1 - told.value;
  at("value").style.setProperty("--first", `${(100 * first).toFixed(1)}%`);
  at("value").dataset.first = first.toFixed(3);
  const rate = told.playouts / Math.max(told.seconds, 1e-6);
  at("opinion").textContent = `${told.proved ? `A proved ${told.proved}` : percent(told)} for the ${side} side. ` +
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
  const both = !["first", "second"].includes(settings.side.value);
  moves = moves.slice(0, both || document.body.dataset.turn === "engine" ? -1 : -2);
  update();
});
at("new").addEventListener("click", () => { moves = []; update(); });
at("hint").addEventListener("click", () => { if (board && !board.over && mine()) { say("The engine looks at your position …"); think(false); } });
for (const select of Object.values(settings)) select.addEventListener("change", update);
window.addEventListener("hashchange", () => { restore(); update(); });
restore();
update();
