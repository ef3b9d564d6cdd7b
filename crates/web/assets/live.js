// A stream of events that survives whatever happens to the connection: it comes back, and says up to where it has read.
// While the page is hidden it is closed, because a browser allows few connections to one host.
const sign = document.getElementById("link");

function show(state, text) {
  sign.hidden = state === "up";
  sign.dataset.state = state;
  sign.textContent = text;
}

// follow(address, from, { name: handler }): handlers get the data; `from` is a place to go on from, or null.
export function follow(address, from, handlers) {
  let source = null, last = from, timer = 0;
  function open() {
    clearTimeout(timer);
    const joint = address.includes("?") ? "&" : "?";
    source = new EventSource(last === null ? address : `${address}${joint}from=${last}`);
    source.onopen = () => show("up", "");
    source.onerror = () => {
      show("down", "Connection lost, trying again …");
      // The browser tries again by itself, except after an answer it takes for final.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 2000);
    };
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        handle(JSON.parse(event.data));
      });
    }
  }
  function close() {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!source) open();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", () => { if (!source && !document.hidden) open(); });
  if (!document.hidden) open();
  return close;
}
