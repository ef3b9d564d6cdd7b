// The tree of a proof search: rows are fetched when they are opened, and kept as they are while the search goes on.
// Keys as in any tree: up and down move, right opens, left closes or goes up, Home and End go to the ends.
const table = document.getElementById("tree");
const body = table.tBodies[0];
const { address, at, base } = table.dataset;
const board = document.getElementById("board");
const line = document.getElementById("line");

const level = (row) => Number(row.getAttribute("aria-level"));
const isOpen = (row) => row.getAttribute("aria-expanded") === "true";
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = `<table><tbody>${html}</tbody></table>`;
  return [...template.content.querySelectorAll("tr")];
};

async function ask(query) {
  const answer = await (await fetch(`${address}/tree?at=${at}&base=${base}&${query}`)).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

async function open(row) {
  if (row.getAttribute("aria-expanded") !== "false") return;
  const begun = performance.now();
  row.setAttribute("aria-expanded", "true");
  const node = row.dataset.node;
  try {
    const rows = parse((await ask(`node=${node}`)).nodes[node]);
    if (isOpen(row) && !below(row).length) row.after(...rows);
  } catch {
    row.setAttribute("aria-expanded", "false");
    return;
  }
  // For who measures: the time from the click to the rows.
  document.body.dataset.opened = `${node} ${(performance.now() - begun).toFixed(1)}`;
}

// The rows that an open one has opened.
function below(row) {
  const rows = [];
  for (let next = row.nextElementSibling; next && level(next) > level(row); next = next.nextElementSibling) rows.push(next);
  return rows;
}

function close(row) {
  if (!isOpen(row)) return;
  row.setAttribute("aria-expanded", "false");
  for (const child of below(row)) child.remove();
}

async function more(row) {
  const { more: node, from } = row.dataset;
  const rows = parse((await ask(`node=${node}&from=${from}`)).nodes[node]);
  const focused = row === document.activeElement || row.contains(document.activeElement);
  row.replaceWith(...rows);
  if (focused && rows[0]) choose(rows[0], true);
}

let chosen = null;
function choose(row, focus) {
  for (const old of body.querySelectorAll("tr[tabindex='0']")) old.tabIndex = -1;
  for (const old of body.querySelectorAll("[aria-selected]")) old.removeAttribute("aria-selected");
  row.tabIndex = 0;
  row.setAttribute("aria-selected", "true");
  if (focus) row.focus();
  if (row.dataset.node !== undefined && row.dataset.node !== chosen) draw(chosen = row.dataset.node);
}

async function draw(node) {
  let frame;
  try {
    frame = await (await fetch(`${address}/position?node=${node}`)).json();
  } catch {
    return;
  }
  if (node !== chosen) return;
  const show = document.createElement(frame.error ? "p" : "pre");
  show.textContent = frame.error ?? frame.text;
  board.replaceChildren(frame.svg ? document.importNode(new DOMParser().parseFromString(frame.svg, "image/svg+xml").documentElement, true) : show);
  board.dataset.node = node;
  line.textContent = frame.line ?? "";
}

const act = (row) => (row.dataset.more !== undefined ? more(row) : isOpen(row) ? close(row) : open(row));

body.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (!row || event.target.closest("a")) return;
  choose(row, true);
  act(row);
});

body.addEventListener("keydown", (event) => {
  const row = event.target.closest("tr");
  if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
  const up = () => {
    let above = row.previousElementSibling;
    while (above && level(above) >= level(row)) above = above.previousElementSibling;
    return above;
  };
  const go = {
    ArrowDown: () => row.nextElementSibling,
    ArrowUp: () => row.previousElementSibling,
    Home: () => body.rows[0],
    End: () => body.rows[body.rows.length - 1],
    ArrowRight: () => (isOpen(row) ? below(row)[0] : void (row.dataset.more === undefined && open(row))),
    ArrowLeft: () => (isOpen(row) ? void close(row) : up()),
    Enter: () => void act(row),
    " ": () => void act(row),
  }[event.key];
  if (!go || (event.key === "Enter" && event.target.closest("a"))) return;
  event.preventDefault();
  const to = go();
  if (to) choose(to, true);
});

// While the search goes on, the rows that are open are asked for again, all at once, and put in place of the old ones.
async function refresh() {
  const every = Number(table.dataset.every);
  if (!every) return;
  setTimeout(refresh, 1000 * every);
  if (document.hidden) return;
  const nodes = [...body.querySelectorAll("tr[aria-expanded=true]")].map((row) => row.dataset.node);
  let answer;
  try {
    answer = await ask(nodes.map((node) => `node=${node}`).join("&"));
  } catch {
    return;
  }
  if (!answer.running) delete table.dataset.every;
  for (const key of ["headline", "below", "numbers", "answers", "size"]) document.getElementById(key).textContent = answer[key];
  const wasOpen = new Set(nodes), focused = document.activeElement.closest?.("tr")?.dataset.node;
  const grow = (rows) => rows.flatMap((row) => {
    const inside = answer.nodes[row.dataset.node];
    if (inside === undefined || !wasOpen.has(row.dataset.node)) return [row];
    row.setAttribute("aria-expanded", "true");
    return [row, ...grow(parse(inside))];
  });
  body.replaceChildren(...grow(parse(answer.top)));
  const row = body.querySelector(`tr[data-node="${focused ?? chosen}"]`);
  if (row) choose(row, focused !== undefined);
}

choose(body.rows[0], false);
setTimeout(refresh, 4000);
