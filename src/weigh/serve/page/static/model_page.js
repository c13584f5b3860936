// The page of one model: the form, its answer, whole files, and what the model is.

import { modelPath, postJson } from "./api.js";
import { Bars } from "./bars.js";
import { Batch } from "./batch.js";
import { Card, typeTitle } from "./card.js";
import { Correction } from "./correction.js";
import { announce, button, element } from "./dom.js";
import { Flips } from "./flips.js";
import { Form } from "./form.js";
import { formatName, formatQuantity, joinAlternatives, verdictSentence } from "./format.js";
import { Verdict, headline } from "./verdict.js";
import { Words } from "./words.js";
import { Worked } from "./worked.js";

const DELAY = 120; // milliseconds without a further change before the server is asked
const FLIP_DELAY = 250; // and before it is asked for changes of the verdict, which take longer
const VIEWS = { try: "Try it", file: "A whole file", about: "About the model" };

export class ModelPage {
  constructor(model) {
    this.model = { ...model, classes: model.classes ?? null };
    this.pinned = null;
    this.answer = null;
    this.sequence = 0;
    this.form = new Form(this.model, () => this.schedule());
    this.verdict = new Verdict(this.model);
    this.words = new Words(this.model.columns);
    this.bars = new Bars(this.form.texts, (feature) => this.words.point(feature));
    this.flips = new Flips(this.form);
    this.worked = new Worked(this.model);
    this.batch = new Batch(this.model);
    this.card = new Card(this.model);
    this.build();
  }

  build() {
    this.evidence = element("section", { class: "card evidence", "aria-labelledby": "evidence-title", hidden: true },
      element("h2", { id: "evidence-title" }, this.model.classes ? "Why" : "How it adds up"),
      this.bars.node, element("p", { class: "note unit" }));
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.dock = element("div", { class: "dock", "aria-hidden": "true", hidden: true });
    this.addActions();
    const tryView = element("div", { class: "view", id: "view-try" },
      element("div", { class: "columns" },
        element("div", { class: "stack" }, this.inputCard(), this.words.node, this.flips.node),
        element("div", { class: "stack answer" }, this.problem, this.verdict.node, this.evidence, this.worked.node)),
      this.dock);
    this.views = {
      try: tryView,
      file: element("div", { class: "view", id: "view-file", hidden: true }, this.batch.node),
      about: element("div", { class: "view", id: "view-about", hidden: true }, this.card.node),
    };
    this.links = Object.entries(VIEWS).map(([name, title]) => element("a", { href: `#${name}` }, title));
    this.node = element("div", { class: "model-page" },
      element("div", { class: "title" },
        element("p", { class: "kicker" }, typeTitle(this.model)),
        element("h1", { dir: "auto" }, formatName(this.model.name)),
        element("p", { class: "subtitle", dir: "auto" }, this.subtitle())),
      element("nav", { class: "tabs", "aria-label": "Views" }, ...this.links),
      ...Object.values(this.views));
    window.addEventListener("hashchange", () => this.showView(true));
    this.showView(false);
    // On a phone the verdict may be far from the slider that changes it.
    const observer = new IntersectionObserver((seen) => {
      this.isVerdictSeen = seen.at(-1).isIntersecting;
      this.showDock();
    });
    observer.observe(this.verdict.node);
  }

  subtitle() {
    const { label, classes, rows } = this.model;
    const total = rows ? Object.values(rows).reduce((sum, count) => sum + count, 0) : null;
    const trained = total === null ? "" : ` Trained on ${formatQuantity(total, "row")}.`;
    if (!classes) return `Predicts ${formatName(label ?? "a number")}.${trained}`;
    const names = classes.length <= 5 ? `: ${joinAlternatives(classes.map((each) => formatName(each, 40)))}` : `, one of ${classes.length.toLocaleString("en")} classes`;
    return `Predicts ${formatName(label ?? "the class")}${names}.${trained}`;
  }

  inputCard() {
    const isText = this.model.columns.length === 1 && this.form.texts.length === 1;
    const actions = element("div", { class: "line" });
    if (this.form.hasExample) actions.append(button("Fill in an example", () => this.form.fillExample(), { class: "small" }));
    actions.append(button("Empty all", () => { this.form.replace({}); this.form.focus(); }, { class: "small" }));
    return element("section", { class: "card input", "aria-labelledby": "input-title" },
      element("div", { class: "card-head" }, element("h2", { id: "input-title" }, isText ? "The text" : "The row"), actions),
      this.form.node);
  }

  addActions() {
    const { actions } = this.verdict;
    this.compare = button("Compare with this", () => this.pin(), { class: "quiet", hidden: true, title: "Keep this answer, and see beside it what a change does" });
    this.reset = button("Back to it", () => this.form.replace(this.pinned.row), { class: "small", hidden: true });
    if (this.model.classes) {
      this.correction = new Correction(this.model,
        () => ({ row: this.fullRow(this.answer.row), verdict: this.answer.explanation.verdict }),
        (changed) => this.learned(changed));
      this.correction.node.hidden = true;
      actions.append(this.correction.node);
    }
    actions.append(element("div", { class: "line compare" }, this.compare, this.reset));
  }

  /** Show the new numbers of rows, and ask again. */
  learned(changed) {
    if (changed?.rows) this.card.update(changed.rows);
    this.ask();
  }

  /** Show the view that the address names; the hash is the only part of it that the page changes. */
  showView(isMove) {
    const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "try";
    for (const [each, view] of Object.entries(this.views)) view.hidden = each !== name;
    for (const link of this.links) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (isMove) this.views[name].querySelector("h2")?.focus({ preventScroll: true });
  }

  /** All columns with null for missing cells, because the server takes an absent column for a mistake. */
  fullRow(row) {
    return { ...Object.fromEntries(this.model.columns.map((column) => [column.name, null])), ...row };
  }

  schedule() {
    clearTimeout(this.timer);
    this.flips.expire();
    this.timer = setTimeout(() => this.ask(), DELAY);
  }

  /** Ask for the prediction and its explanation; answers to older rows are dropped. */
  async ask() {
    const row = this.form.values();
    this.controller?.abort();
    this.sequence += 1;
    clearTimeout(this.flipTimer);
    if (this.form.isEmpty) {
      this.clear();
      return;
    }
    this.controller = new AbortController();
    const { sequence } = this;
    try {
      const { signal } = this.controller;
      const rows = [this.fullRow(row)];
      const [{ predictions, notes }, { explanations }] = await Promise.all([
        postJson(modelPath(this.model.name, "predict"), { rows, check: this.model.can_check, std: this.model.has_std ?? false }, signal),
        postJson(modelPath(this.model.name, "explain"), { rows }, signal),
      ]);
      if (sequence !== this.sequence) return;
      this.show(row, { ...predictions[0], notes }, normalise(explanations[0]));
      if (this.model.can_flip) this.flipTimer = setTimeout(() => this.askFlip(rows, sequence, signal), FLIP_DELAY);
    } catch (problem) {
      if (problem.name !== "AbortError" && sequence === this.sequence) this.fail(problem);
    }
  }

  async askFlip(rows, sequence, signal) {
    try {
      const { explanations } = await postJson(modelPath(this.model.name, "explain"), { rows, flip: true }, signal);
      if (sequence === this.sequence) this.flips.update(explanations[0]);
    } catch (problem) {
      if (problem.name !== "AbortError" && sequence === this.sequence) this.flips.node.hidden = true;
    }
  }

  show(row, prediction, explanation) {
    this.problem.hidden = true;
    this.answer = { row, ...headline(prediction, explanation), explanation };
    this.verdict.update(prediction, explanation, this.isPinned(row) ? null : this.pinned);
    this.evidence.hidden = false;
    this.bars.update(explanation, this.isPinned(row) ? null : this.pinnedNumbers(explanation));
    this.evidence.querySelector(".unit").textContent = unitSentence(explanation) + (this.verdict.hasBefore ? " The dotted lines show them before the change." : "");
    this.words.update(row, explanation);
    this.worked.update(this.fullRow(row), explanation);
    this.compare.hidden = false;
    this.reset.hidden = this.pinned === null || this.isPinned(row);
    if (this.correction) {
      this.correction.node.hidden = false;
      this.correction.follow(this.fullRow(row));
    }
    this.showDock();
    announce(verdictSentence(explanation));
  }

  clear() {
    this.answer = null;
    this.verdict.wait();
    for (const part of [this.evidence, this.words.node, this.flips.node, this.worked.node, this.problem, this.compare, this.reset]) part.hidden = true;
    if (this.correction) this.correction.node.hidden = true;
    this.showDock();
  }

  fail(problem) {
    this.clear();
    this.problem.textContent = problem.message;
    this.problem.hidden = false;
    if (problem.status === 401) window.dispatchEvent(new CustomEvent("unauthorised", { detail: problem }));
  }

  pin() {
    this.pinned = this.answer;
    this.compare.textContent = "Compare with this instead";
    this.reset.hidden = true;
    announce("Kept for comparison. Change a value to see what moves.");
    this.schedule();
  }

  isPinned(row) {
    return this.pinned !== null && JSON.stringify(this.pinned.row) === JSON.stringify(row);
  }

  /** The contributions of the row to compare with, turned if its verdict was the other of two classes. */
  pinnedNumbers({ verdict, runner_up, unit }) {
    if (this.pinned === null) return null;
    const { explanation } = this.pinned;
    const isSame = explanation.verdict === verdict && explanation.runner_up === runner_up;
    const isTurned = explanation.verdict === runner_up && explanation.runner_up === verdict;
    if (!isSame && !isTurned && unit !== "predicted") return null;
    const sign = isTurned ? -1 : 1;
    return new Map(explanation.evidence.map((row) => [row.feature, sign * row[unit]]));
  }

  showDock() {
    this.dock.hidden = this.answer === null || this.isVerdictSeen !== false;
    if (this.answer) this.dock.replaceChildren(element("b", { dir: "auto" }, this.answer.word), " ", this.answer.measure);
  }
}

/** Turn the API's words for infinities into numbers. */
function normalise(explanation) {
  const { unit } = explanation;
  const evidence = explanation.evidence.map((row) => ({ ...row, [unit]: toNumber(row[unit]) }));
  return { ...explanation, unit, evidence, total: toNumber(explanation.total) };
}

function toNumber(value) {
  if (typeof value === "number") return value;
  return { inf: Infinity, "-inf": -Infinity }[value] ?? NaN;
}

function unitSentence({ unit }) {
  return {
    nats: "In nats, natural logarithms: +0.69 doubles the odds of the verdict, −0.69 halves them. They add up to the total.",
    points: "In points of the perceptron's score, which add up to its lead.",
    votes: "In votes, which add up to the lead.",
    predicted: "The parts add up to the prediction.",
  }[unit] ?? "";
}
