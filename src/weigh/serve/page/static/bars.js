// Evidence as a table with bars: one row per contribution, and the total.

import { element } from "./dom.js";
import { formatName, formatNumber, formatSigned } from "./format.js";

const MAX_ROWS = 14; // further contributions are summed in one row, until all are wanted
const DURATION = 220; // milliseconds
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The feature of a contribution and its value, as they are shown; words without the name of the only text. */
export function titleOf({ feature, value }, texts) {
  const text = texts.find((column) => feature.startsWith(`${column.name}: `));
  if (!text) return { name: formatName(feature), value: value === "" ? "" : `= ${formatName(value)}`, isWord: false };
  const times = value === "× 1" ? "" : value;
  const place = texts.length > 1 ? `in ${formatName(text.name, 30)}` : "";
  return { name: formatName(feature.slice(text.name.length + 2)), value: `${times} ${place}`.trim(), isWord: true };
}

/** Return the strongest contributions in descending order after the prior or bias, and the sum of the others. */
function arrange(rows, unit, showsAll) {
  const hasBase = rows.length && ["class prior", "bias"].includes(rows[0].feature);
  const base = hasBase ? rows.slice(0, 1) : [];
  const features = rows.slice(base.length).sort((a, b) => Math.abs(b[unit]) - Math.abs(a[unit]));
  const limit = showsAll || features.length <= MAX_ROWS + 1 ? features.length : MAX_ROWS;
  const others = features.slice(limit);
  const rest = others.length
    ? [{ feature: `${others.length.toLocaleString("en")} others together`, value: "", [unit]: sum(others, unit), isRest: true }]
    : [];
  return { arranged: [...features.slice(0, limit), ...rest, ...base.map((row) => ({ ...row, isBase: true }))], others };
}

/** Return a function that draws infinite numbers a little longer than the longest finite one. */
function clipInfinite(amounts) {
  const longest = Math.max(...amounts.filter(Number.isFinite).map(Math.abs), 0) || 1;
  return (amount) => (Number.isFinite(amount) ? amount : (Math.sign(amount) || 0) * 1.2 * longest);
}

function sum(rows, unit) {
  return rows.reduce((total, row) => total + row[unit], 0);
}

export class Bars {
  /** `pointed(feature)` is called with the feature under the pointer, or null. */
  constructor(texts, pointed) {
    this.texts = texts;
    this.showsAll = false;
    this.rows = new Map();
    this.caption = element("caption", { dir: "auto" });
    this.numberHead = element("th", { scope: "col", class: "n" });
    this.body = element("tbody");
    this.totalCell = element("td", { class: "n" });
    this.totalHead = element("th", { scope: "row" }, "total");
    this.more = element("button", { type: "button", class: "small" });
    this.more.addEventListener("click", () => {
      this.showsAll = !this.showsAll;
      this.update(this.explanation, this.previous);
    });
    this.node = element(
      "div",
      { class: "bars" },
      element(
        "table",
        {},
        this.caption,
        element("thead", {}, element("tr", {},
          element("th", { scope: "col" }, "feature"),
          element("td", { class: "bar-head", "aria-hidden": "true" }, element("span", {}, "against"), element("span", {}, "for")),
          this.numberHead)),
        this.body,
        element("tfoot", {}, element("tr", {}, this.totalHead, element("td", { "aria-hidden": "true" }), this.totalCell)),
      ),
      this.more,
    );
    this.body.addEventListener("pointerover", (event) => pointed(event.target.closest("tr")?.feature ?? null));
    this.body.addEventListener("pointerleave", () => pointed(null));
  }

  /** Show the evidence of an explanation; `previous` holds the contributions of a row to compare with. */
  update(explanation, previous = null) {
    this.explanation = explanation;
    this.previous = previous;
    const { unit } = explanation;
    const { arranged, others } = arrange(explanation.evidence, unit, this.showsAll);
    const amounts = [...arranged.map((row) => row[unit]), ...(previous?.values() ?? [])];
    const clip = clipInfinite(amounts);
    const [low, high] = [Math.min(0, ...amounts.map(clip)), Math.max(0, ...amounts.map(clip))];
    const scale = Math.max(high - low, 1e-300);
    this.placeAxis(low, high, scale);
    this.showHeads(explanation);
    const tops = this.positions();
    const kept = new Map();
    this.body.replaceChildren(
      ...arranged.map((row) => {
        const key = row.isRest ? "" : row.feature;
        const line = (!kept.has(key) && this.rows.get(key)) || this.createRow();
        kept.set(key, line);
        const before = previous?.get(row.feature);
        this.fill(line, row, row[unit]);
        this.drawBar(line, clip(row[unit]) / scale, before === undefined ? null : clip(before) / scale);
        return line.node;
      }),
    );
    this.rows = kept;
    this.move(tops);
    this.more.hidden = !(others.length || (this.showsAll && explanation.evidence.length > MAX_ROWS + 2));
    this.more.textContent = this.showsAll ? "Show fewer" : `Show all ${explanation.evidence.length.toLocaleString("en")}`;
  }

  /** Put the axis where the bars on both sides have room. */
  placeAxis(low, high, scale) {
    // Lengths are set through the object model, because the page's policy forbids inline styles.
    this.node.style.setProperty("--zero", (-low / scale).toFixed(4));
    this.node.classList.toggle("has-against", low < -0.15 * scale);
    this.node.classList.toggle("has-for", high > 0.15 * scale);
  }

  showHeads({ unit, verdict, runner_up, total }) {
    const against = runner_up === null || runner_up === undefined ? "" : ` against ${formatName(runner_up)}`;
    this.node.classList.toggle("is-predicted", unit === "predicted");
    this.caption.textContent = unit === "predicted" ? "What each value adds to the prediction" : `Evidence for ${formatName(verdict)}${against}`;
    this.numberHead.textContent = unit === "predicted" ? "adds" : unit;
    this.totalHead.textContent = unit === "predicted" ? "prediction" : "total";
    this.totalCell.textContent = unit === "predicted" ? formatNumber(total, 6) : formatSigned(total);
  }

  createRow() {
    const name = element("span", { class: "feature" });
    const value = element("span", { class: "value" });
    const bar = element("div", { class: "bar" });
    const was = element("div", { class: "was", hidden: true });
    const number = element("td", { class: "n" });
    const node = element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, name, " ", value),
      element("td", { class: "track", "aria-hidden": "true" }, element("div", { class: "axis" }), bar, was),
      number,
    );
    return { node, name, value, bar, was, number, share: 0 };
  }

  fill(line, row, amount) {
    const { name, value, isWord } = titleOf(row, this.texts);
    line.node.feature = row.feature;
    line.node.classList.toggle("base", Boolean(row.isBase || row.isRest));
    line.name.textContent = name;
    line.name.classList.toggle("word", isWord);
    line.value.textContent = value;
    line.number.textContent = formatSigned(amount);
    line.number.classList.toggle("for", amount > 0);
    line.number.classList.toggle("against", amount < 0);
  }

  drawBar(line, share, before) {
    line.bar.classList.toggle("negative", share < 0);
    line.bar.style.setProperty("--size", Math.abs(share));
    this.grow(line, share);
    line.was.hidden = before === null;
    if (before !== null) line.was.style.setProperty("--at", before);
  }

  grow(line, share) {
    const { share: from } = line;
    line.share = share;
    if (still.matches || !line.node.isConnected || from === share || Math.sign(from) !== Math.sign(share)) return;
    const ratio = share === 0 ? 1 : from / share;
    line.bar.animate([{ transform: `scaleX(${ratio})` }, { transform: "none" }], { duration: DURATION, easing: "ease-out" });
  }

  positions() {
    return new Map(Array.from(this.rows.values(), (line) => [line.node, line.node.offsetTop]));
  }

  /** Let rows slide to their new places. */
  move(tops) {
    if (still.matches) return;
    for (const [node, top] of tops) {
      const shift = node.isConnected ? top - node.offsetTop : 0;
      if (shift) {
        node.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }], { duration: DURATION, easing: "ease-out" });
      }
    }
  }
}
