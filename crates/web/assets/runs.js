// The list of runs, kept up to date: rows that changed are replaced, what is new comes first, what is gone goes. The
// filter answers at once, and the button says how many runs it would compare.
import { follow } from "./live.js";

const table = document.getElementById("runs");
const body = table?.tBodies[0];
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = `<table><tbody>${html}</tbody></table>`;
  return template.content.querySelector("tr");
};
const row = (name) => [...body.rows].find((row) => row.dataset.run === name);

const form = document.getElementById("filter"), compare = document.getElementById("compare"), chosen = document.getElementById("chosen");
for (const input of form.querySelectorAll("select, input[type=checkbox]")) input.addEventListener("change", () => form.requestSubmit());
// Nothing empty in the address.
form.addEventListener("submit", () => { for (const input of form.elements) if (!input.value) input.disabled = true; });

function count() {
  const checked = chosen.querySelectorAll("input:checked").length;
  const what = table ? ["run", "runs"] : ["search", "searches"];
  compare.textContent = checked ? `Compare ${checked} ${what[Number(checked > 1)]}` : "Compare all";
}
chosen.addEventListener("change", count);
count();

let known = null;
if (table) {
  follow(`/live?${table.dataset.filter}`, null, {
    rows({ changed, gone, names }) {
      // The first message after each connection says what there is.
      if (names) known = new Set([...(known ?? []), ...names]);
      for (const [name, html] of Object.entries(changed)) {
        const fresh = parse(html), old = row(name);
        if (!old) {
          const isNew = known && !known.has(name);
          known?.add(name);
          // The first run of an empty page: the page has more to show then.
          if (table.hidden && !body.rows.length) return location.reload();
          if (isNew && table.dataset.first === "true") body.prepend(fresh);
          continue;
        }
        if (old.outerHTML === fresh.outerHTML) continue;
        const box = old.querySelector("input"), checked = box?.checked, focused = old.contains(document.activeElement);
        if (focused) continue; // a row in use is left alone until the next change
        old.replaceWith(fresh);
        if (checked) fresh.querySelector("input").checked = true;
      }
      for (const name of gone) row(name)?.remove();
      document.body.dataset.rows = body.rows.length;
    },
  });
}
