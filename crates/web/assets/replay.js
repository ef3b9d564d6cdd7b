// A slider over the moves of a record or a game. Frames come from the server, which draws them by the rules; a few are
// kept, and while one is on its way only the newest wish waits.
const KEPT = 200;

export class Replay {
  constructor(host) {
    const at = (id) => host.querySelector(`#${id}`);
    this.address = host.dataset.address;
    this.frames = Number(host.dataset.frames);
    [this.board, this.slider, this.where, this.facts, this.button] = ["board", "slider", "where", "facts", "run"].map(at);
    this.kept = new Map();
    this.busy = false;
    this.timer = 0;
    this.slider.addEventListener("input", () => { this.stop(); this.show(); });
    at("back").addEventListener("click", () => { this.stop(); this.go(this.place() - 1); });
    at("forth").addEventListener("click", () => { this.stop(); this.go(this.place() + 1); });
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
    this.show();
  }

  place() { return Number(this.slider.value); }

  go(place) {
    this.slider.value = Math.min(this.frames, Math.max(0, place));
    this.show();
  }

  start() {
    if (this.place() >= this.frames) this.go(0);
    this.button.textContent = "❚❚";
    this.button.setAttribute("aria-label", "Pause");
    const step = Math.max(1, Math.round(this.frames / 150));
    this.timer = setInterval(() => {
      if (this.busy) return;
      if (this.place() >= this.frames) this.stop();
      else this.go(this.place() + step);
    }, 160);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.button.textContent = "▶";
    this.button.setAttribute("aria-label", "Play the moves");
  }

  // The record has been replaced by a better one; whoever looks at its end goes on looking at the end.
  renew() {
    this.kept.clear();
    this.follow = this.place() >= this.frames;
    this.show();
  }

  async show() {
    const place = this.follow ? this.frames + 1e6 : this.place();
    this.where.textContent = `${this.place()} of ${this.frames}`;
    if (this.busy) return;
    let frame = this.kept.get(place);
    if (!frame) {
      this.busy = true;
      try {
        const joint = this.address.endsWith("@") ? this.address + place : `${this.address}?after=${place}`;
        frame = await (await fetch(joint)).json();
      } catch {
        frame = null;
      }
      this.busy = false;
      if (!frame) return;
      if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value);
      if (!this.follow) this.kept.set(place, frame);
    }
    this.paint(frame);
    if (!this.follow && this.place() !== place) this.show();
    this.follow = false;
  }

  paint(frame) {
    if (frame.error) {
      const p = document.createElement("p");
      p.className = "muted";
      p.textContent = frame.error;
      this.board.replaceChildren(p);
      return;
    }
    if (frame.of !== this.frames) {
      this.frames = frame.of;
      this.slider.max = frame.of;
    }
    if (this.follow) this.slider.value = frame.after;
    this.where.textContent = `${frame.after} of ${frame.of}`;
    if (frame.svg) {
      this.board.replaceChildren(document.importNode(new DOMParser().parseFromString(frame.svg, "image/svg+xml").documentElement, true));
    } else {
      const pre = document.createElement("pre");
      pre.textContent = frame.text;
      this.board.replaceChildren(pre);
    }
    this.board.dataset.after = frame.after;
    const facts = [...(frame.score === null ? [] : [`score ${frame.score}`]), ...frame.facts.map(([key, value]) => `${key.replaceAll("_", " ")} ${value}`)];
    if (frame.move) facts.unshift(`move ${frame.move}`);
    this.facts.textContent = facts.join(" · ");
  }
}

// On pages that have nothing but a slider.
const alone = document.getElementById("replay");
if (alone && !document.getElementById("curve")) new Replay(alone);
