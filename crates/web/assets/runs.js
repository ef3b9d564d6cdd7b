// The list of runs, kept up to date: rows that changed are replaced, what is new comes first, what is gone goes.
import { follow } from "./live.js";

const table = document.getElementById("runs");
const body = table.tBodies[0];
const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = `<table><tbody>${html}</tbody></table>`;
  return template.content.querySelector("tr");
};
const row = (name) => [...body.rows].find((row) => row.dataset.run === name);

follow(`/live?${table.dataset.filter}`, null, {
  rows({ changed, gone }) {
    for (const [name, html] of Object.entries(changed)) {
      const fresh = parse(html), old = row(name);
      if (!old) {
        // The first run of an empty page: the page has more to show then.
        if (table.hidden) return location.reload();
        body.prepend(fresh);
        continue;
      }
      const box = old.querySelector("input"), checked = box?.checked, focused = old.contains(document.activeElement);
      if (focused) continue; // a row in use is left alone until the next change
      old.replaceWith(fresh);
      if (checked) fresh.querySelector("input").checked = true;
    }
    for (const name of gone) row(name)?.remove();
    document.body.dataset.rows = body.rows.length;
  },
});
