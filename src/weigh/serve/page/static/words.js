// Texts with their words highlighted by what they contribute.

import { element, scrollBox } from "./dom.js";
import { formatName, formatSigned } from "./format.js";

const MAX_SHOWN = 20_000; // characters of a text

/** Cut a text at the ends of its spans; words that overlap, such as pairs of words, add up. */
function segments(length, spans) {
  const cuts = new Set([0, length]);
  for (const { start, end } of spans) cuts.add(Math.min(start, length)).add(Math.min(end, length));
  const ends = Array.from(cuts).sort((a, b) => a - b);
  const ordered = [...spans].sort((a, b) => a.start - b.start);
  let [next, open] = [0, []];
  return ends.slice(0, -1).map((start, at) => {
    while (next < ordered.length && ordered[next].start <= start) open = [...open, ordered[next++]];
    open = open.filter((span) => span.end > start);
    return { start, end: ends[at + 1], spans: open };
  });
}

function mark(words, spans, largest, unit) {
  const nats = spans.reduce((total, span) => total + span.nats, 0);
  const node = element("mark", { class: nats < 0 ? "against" : "for", title: `${formatSigned(nats)} ${unit}` }, words);
  node.features = spans.map((span) => span.feature);
  node.style.setProperty("--strength", Math.min(1, Math.abs(nats) / largest).toFixed(3));
  return node;
}

function highlight(text, spans, unit) {
  const shown = text.slice(0, MAX_SHOWN);
  const inside = spans.filter((span) => span.start < shown.length && span.nats !== 0);
  const largest = Math.max(...inside.map((span) => Math.abs(span.nats)), 1e-300);
  const parts = segments(shown.length, inside).map((part) => {
    const words = shown.slice(part.start, part.end);
    return part.spans.length ? mark(words, part.spans, largest, unit) : words;
  });
  const more = text.length > MAX_SHOWN ? [element("span", { class: "note" }, ` … the first ${MAX_SHOWN.toLocaleString("en")} characters`)] : [];
  return element("p", { class: "highlighted", dir: "auto" }, ...parts, ...more);
}

export class Words {
  constructor(columns) {
    this.columns = columns.filter((column) => column.kind === "text");
    this.content = element("div", { class: "texts" });
    this.unknown = element("p", { class: "note", dir: "auto" });
    this.node = element(
      "section",
      { class: "card words", "aria-labelledby": "words-title", hidden: true },
      element("h2", { id: "words-title" }, "Words"),
      element("p", { class: "legend" }),
      scrollBox("The text with its words highlighted", this.content),
      this.unknown,
    );
  }

  update(row, { spans = [], unit, verdict, runner_up, unknown_words, n_unknown }) {
    const texts = this.columns.filter((column) => typeof row[column.name] === "string");
    this.node.hidden = texts.length === 0 || !spans.length;
    this.node.querySelector(".legend").replaceChildren(
      element("mark", { class: "for", "data-legend": "" }, "for"), ` ${formatName(verdict)}`,
      ...(runner_up === null || runner_up === undefined ? [] : [" ", element("mark", { class: "against", "data-legend": "" }, "against"), " it"]),
    );
    this.content.replaceChildren(
      ...texts.flatMap((column) => [
        texts.length > 1 ? element("h3", { dir: "auto" }, formatName(column.name)) : null,
        highlight(row[column.name], spans.filter((span) => span.column === column.name), unit),
      ].filter(Boolean)),
    );
    this.showUnknown(unknown_words ?? [], n_unknown ?? unknown_words?.length ?? 0);
  }

  showUnknown(words, count) {
    this.unknown.hidden = count === 0;
    const only = this.columns.length === 1 ? `${this.columns[0].name}: ` : "";
    const names = words.map((word) => formatName(word.startsWith(only) ? word.slice(only.length) : word));
    const more = count > words.length ? ` and ${(count - words.length).toLocaleString("en")} more` : "";
    this.unknown.textContent = `Words that the model does not know, which add nothing: ${names.join(", ")}${more}.`;
  }

  /** Point at the places of one feature. */
  point(feature) {
    for (const node of this.content.querySelectorAll("mark")) {
      node.classList.toggle("pointed", feature !== null && node.features.includes(feature));
    }
  }
}
