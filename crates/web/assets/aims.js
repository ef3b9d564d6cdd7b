// Scores in the words of the domain, as crates/web/src/aims.rs tells them: of one aim a number, of two (vehicles, then
// distance) what they are made of, with marks along an axis for the first that changes.
import { number } from "./chart.js";

const counted = (n, what) => `${number(n)} ${n === 1 ? what.replace(/s$/, "") : what}`;

export class Aims {
  // aims: null, or { measures: [{ what, least, decimals, rounding }], worth }
  constructor(aims, known) {
    this.known = known;
    this.measures = aims?.measures ?? [{ what: "", least: false, decimals: null, rounding: 1e-9 }];
    this.worth = aims?.worth ?? null;
    // Aims that are packed in a way that is not known here are told as the number they are.
    if (this.measures.length > 1 && !this.worth) this.measures = [{ what: "", least: false, decimals: null, rounding: 1e-9 }];
  }

  // The value of each aim.
  values(score) {
    if (this.worth) {
      const first = Math.floor(-score / this.worth);
      return [first, -score - first * this.worth];
    }
    return [this.measures[0].least ? -score : score];
  }

  part(i, value) {
    const { what, decimals } = this.measures[i];
    if (decimals !== null) return `${what} ${value.toFixed(decimals)}`.trim();
    return what && what !== "score" ? counted(value, what) : number(value);
  }

  told(score) {
    if (score === null || score === undefined || !isFinite(score)) return "–";
    return this.values(score).map((value, i) => this.part(i, value)).join(", ");
  }

  // How a score stands to the best known, in a sentence.
  stands(score) {
    const mine = this.values(score), best = this.values(this.known), known = this.told(this.known);
    for (const [i, { least, rounding, decimals }] of this.measures.entries()) {
      const behind = least ? mine[i] - best[i] : best[i] - mine[i];
      if (Math.abs(behind) <= rounding + 1e-9 * Math.abs(best[i])) continue;
      if (behind < 0) return `better than the best known, ${known}`;
      const gap = (100 * behind) / Math.max(Math.abs(best[i]), 1e-9);
      const far = decimals === null && this.measures.length > 1 ? this.part(i, behind) : gap >= 1000 ? "far" : `${gap.toFixed(1)} %`;
      return `${far} behind the best known, ${known}`;
    }
    return "equals the best known";
  }

  // Marks along an axis from low to high: [height, label]. `even` finds round numbers within a span.
  marks(low, high, count, beside, even) {
    if (!this.worth) return null;
    const second = -beside - Math.floor(-beside / this.worth) * this.worth, out = [];
    const fewest = Math.ceil((-high - second) / this.worth), most = Math.floor((-low - second) / this.worth);
    if (most > fewest) {
      const step = Math.max(1, Math.ceil((most - fewest) / count));
      for (let n = fewest; n <= most; n += step) out.push([-(n * this.worth + second), counted(n, this.measures[0].what)]);
      return out;
    }
    return even(low, high, count).map((tick) => [tick, number(this.values(tick)[1])]);
  }
}
