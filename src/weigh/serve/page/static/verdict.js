// The verdict with its probability, the probabilities of all classes, and what is unusual about the row.

import { element, uniqueId } from "./dom.js";
import { formatName, formatNumber, formatPercent } from "./format.js";

const MAX_CLASSES = 6;
const NORMAL_95 = 1.96; // standard deviations

/** Return the number that the API gives for a class; its keys are the classes as text. */
export function shareOf(shares, label) {
  const key = { true: "True", false: "False" }[label] ?? String(label);
  return shares[label] ?? shares[key];
}

/** Return the main line of an answer: the verdict, and how sure or how far ahead it is. */
export function headline(prediction, explanation) {
  if (explanation.unit === "predicted") return { word: formatNumber(explanation.total, 6), measure: "" };
  const word = formatName(prediction.label ?? explanation.verdict);
  if (!prediction.probabilities) return { word, measure: `ahead by ${formatNumber(explanation.total)} ${explanation.unit}` };
  const share = shareOf(prediction.probabilities, prediction.label ?? explanation.verdict);
  return { word, measure: share === undefined ? "" : formatPercent(share) };
}

export class Verdict {
  constructor(model) {
    this.model = model;
    this.title = element("h2", { id: uniqueId("verdict"), class: "kicker" }, model.classes ? "Verdict" : `Predicted${model.label ? ` ${formatName(model.label)}` : ""}`);
    this.word = element("p", { class: "verdict-word", dir: "auto" });
    this.measure = element("p", { class: "verdict-measure" });
    this.before = element("p", { class: "note before" });
    this.classes = element("div", { class: "classes" });
    this.notes = element("ul", { class: "notes" });
    this.actions = element("div", { class: "actions" });
    this.node = element(
      "section",
      { class: "card verdict", "aria-labelledby": this.title.id },
      this.title,
      element("div", { class: "verdict-line" }, this.word, this.measure),
      this.before, this.classes, this.notes, this.actions,
    );
    this.wait();
  }

  /** Say that there is nothing to judge yet. */
  wait(sentence = "Fill in a value to see the prediction.") {
    this.node.classList.add("waiting");
    this.word.textContent = "";
    this.measure.textContent = sentence;
    this.before.hidden = this.classes.hidden = this.notes.hidden = true;
  }

  /** Whether an earlier answer is shown beside this one. */
  get hasBefore() {
    return !this.before.hidden;
  }

  update(prediction, explanation, pinned) {
    const { word, measure } = headline(prediction, explanation);
    this.node.classList.remove("waiting");
    this.word.textContent = word;
    this.measure.textContent = measure;
    this.before.hidden = pinned === null;
    if (pinned) this.before.textContent = `Before: ${pinned.word}${pinned.measure ? `, ${pinned.measure}` : ""}`;
    this.showClasses(prediction);
    this.showNotes(prediction, explanation);
  }

  showClasses(prediction) {
    const shares = prediction.probabilities ?? prediction.scores;
    this.classes.hidden = !shares || this.model.classes.length < 2;
    if (this.classes.hidden) return;
    const numbers = this.model.classes.map((label) => [formatName(label), shareOf(shares, label) ?? 0]);
    const ordered = numbers.length > MAX_CLASSES ? numbers.sort((a, b) => b[1] - a[1]) : numbers;
    const isShare = Boolean(prediction.probabilities);
    const rows = ordered.slice(0, MAX_CLASSES).map(([name, number]) => classRow(name, number, isShare, name === formatName(prediction.label)));
    const hidden = ordered.length - rows.length;
    const caption = isShare ? "Probability of each class" : "Score of each class";
    this.classes.replaceChildren(
      element("table", {}, element("caption", { class: "unseen" }, caption), element("tbody", {}, ...rows)),
      hidden > 0 ? element("p", { class: "note" }, `and ${hidden.toLocaleString("en")} more classes`) : "",
    );
  }

  showNotes(prediction, explanation) {
    const notes = [];
    if (Number.isFinite(prediction.std)) {
      const [low, high] = [-1, 1].map((side) => formatNumber(explanation.total + side * NORMAL_95 * prediction.std));
      notes.push(`The true value is between ${low} and ${high} with a probability of about 95\u202f%.`);
    }
    for (const note of prediction.notes ?? []) notes.push(formatName(note, 300));
    for (const reason of prediction.unfamiliar ?? []) notes.push(`Unlike the training rows: ${formatName(reason.text, 300)}`);
    this.notes.replaceChildren(...notes.map((note) => element("li", { dir: "auto" }, note)));
    this.notes.hidden = notes.length === 0;
  }
}

function classRow(name, number, isShare, isVerdict) {
  const bar = element("div", { class: "share" });
  bar.style.setProperty("--size", isShare ? number : 0);
  return element(
    "tr",
    { class: isVerdict ? "is-verdict" : null },
    element("th", { scope: "row", dir: "auto" }, name),
    isShare ? element("td", { class: "meter", "aria-hidden": "true" }, bar) : null,
    element("td", { class: "n" }, isShare ? formatPercent(number) : formatNumber(number)),
  );
}
