// A page that is written anew while its run goes on: fetched every few seconds while somebody looks, and put in place of
// the old one where it differs. The page says how often, and no longer does when the run has ended.
const main = document.getElementById("main");

async function refresh() {
  const every = Number(document.getElementById("refresh")?.dataset.every);
  if (!every) return;
  setTimeout(refresh, 1000 * every);
  if (document.hidden || main.contains(document.activeElement)) return;
  try {
    const text = await (await fetch(location.href)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    if (fresh && fresh.innerHTML !== main.innerHTML) main.replaceChildren(...fresh.childNodes);
  } catch {
    // The server is away; the next time may do.
  }
}

setTimeout(refresh, 3000);
