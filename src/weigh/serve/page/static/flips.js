// What would change the verdict: single values, and the smallest set of features to leave out.

import { button, element } from "./dom.js";
import { flagWords } from "./fields.js";
import { titleOf } from "./bars.js";
import { formatName, formatNumber, formatQuantity } from "./format.js";

const MAX_CHANGES = 6;

/** Return the shortest number beyond a threshold, on the side that `to` names ("above", "below", "at most"). */
export function numberBeyond(threshold, to, distance) {
  const side = to.startsWith("above") ? 1 : -1;
  if (to.startsWith("at most")) return threshold;
  // A step of at most a tenth of the distance, so that little more than necessary is changed.
  const step = 10 ** (Math.floor(Math.log10(Math.abs(distance) || 1)) - 1);
  const steps = side > 0 ? Math.floor(threshold / step) + 1 : Math.ceil(threshold / step) - 1;
  const rounded = Number((steps * step).toPrecision(12));
  return (rounded - threshold) * side > 0 ? rounded : threshold + side * Math.abs(threshold || 1) * 1e-6;
}

const DAYS = ": days since 1970"; // the part of a date that is a number
const DAY = 86_400_000; // milliseconds

function dateOfDay(day) {
  const date = new Date(day * DAY);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().slice(0, 10);
}

/** Return the date of a change of the days of a date; null for other changes. */
function dateOfChange({ feature, to, threshold }) {
  if (!feature.endsWith(DAYS) || threshold === null || threshold === undefined) return null;
  return dateOfDay(to.startsWith("above") ? Math.floor(threshold) + 1 : to.startsWith("below") ? Math.ceil(threshold) - 1 : Math.floor(threshold));
}

/** Return the new values of columns for a change of one value; null if no field can make it. */
function valuesOfChange(change, form) {
  const date = dateOfChange(change);
  if (date !== null) return { [change.feature.slice(0, -DAYS.length)]: date };
  const field = form.fields.get(change.feature);
  if (!field) return null;
  if (field.column.kind === "flag") return { [change.feature]: change.to === "1" || change.to === flagWords(field.column)[1] };
  if (change.threshold === null || change.threshold === undefined) return { [change.feature]: change.to };
  const now = field.get();
  return { [change.feature]: numberBeyond(change.threshold, change.to, change.threshold - now) };
}

/** Return the new values without features: empty fields, and texts without their words. */
function valuesOfRemoval(removed, form, spans) {
  const values = {};
  for (const { feature } of removed) {
    const places = spans.filter((span) => span.feature === feature);
    if (places.length) {
      const { column } = places[0];
      values[column] ??= form.fields.get(column).get();
    } else if (form.fields.has(feature)) values[feature] = null;
    else return null;
  }
  for (const [column, text] of Object.entries(values)) {
    if (text !== null) values[column] = removeSpans(text, spans.filter((span) => span.column === column && removed.some((row) => row.feature === span.feature)));
  }
  return values;
}

function removeSpans(text, spans) {
  let shorter = text;
  for (const { start, end } of [...spans].sort((a, b) => b.start - a.start)) {
    const before = shorter.slice(0, start);
    const after = shorter.slice(end);
    shorter = before + (/\s$/.test(before) ? after.replace(/^[ \t]/, "") : after);
  }
  return shorter;
}

/** Describe a change of one value; flags have their own words for 0 and 1. */
function describeChange(change, column) {
  const { feature, now, to, threshold, becomes } = change;
  const date = dateOfChange(change);
  if (date !== null) {
    const side = to.startsWith("above") ? "or later" : "or earlier";
    const name = element("b", {}, formatName(feature.slice(0, -DAYS.length)));
    return [name, ` from ${dateOfDay(Number(now)) ?? now} to `, element("b", {}, `${date} ${side}`), " → ", becomesMark(becomes)];
  }
  const side = to.match(/^(above|below|at most)/)?.[0];
  const isThreshold = side && threshold !== null && threshold !== undefined;
  const goal = isThreshold ? `${side} ${formatNumber(threshold)}` : formatValue(to, column);
  return [
    element("b", {}, formatName(feature)), now === "" ? " " : ` from ${formatValue(now, column)} `, "to ",
    element("b", {}, goal), " → ", becomesMark(becomes),
  ];
}

function formatValue(value, column) {
  if (column?.kind === "flag" && (value === "0" || value === "1")) return formatName(flagWords(column)[value]);
  return formatName(value);
}

function becomesMark(label) {
  return element("span", { class: "becomes" }, formatName(label));
}

export class Flips {
  constructor(form) {
    this.form = form;
    this.list = element("ul", { class: "flips" });
    this.note = element("p", { class: "note" });
    this.back = button("Put it back", () => this.putBack(), { class: "small", hidden: true });
    this.node = element(
      "section",
      { class: "card flip", "aria-labelledby": "flip-title", hidden: true },
      element("h2", { id: "flip-title" }, "What would change the verdict"),
      this.list, this.note, this.back,
    );
  }

  update(explanation) {
    const { flip, spans = [] } = explanation;
    this.node.hidden = !flip;
    if (!flip) return;
    const changes = [...(flip.changes ?? [])].sort((a, b) => this.effort(a) - this.effort(b));
    const items = changes.slice(0, MAX_CHANGES).map((change) =>
      this.item(describeChange(change, this.form.fields.get(change.feature)?.column), valuesOfChange(change, this.form)));
    if (flip.removed.length) {
      const names = flip.removed.map((row) => this.nameOf(row)).join(", ");
      const words = ["without ", element("b", {}, names), " → ", becomesMark(flip.becomes)];
      items.push(this.item(words, valuesOfRemoval(flip.removed, this.form, spans)));
    }
    this.list.replaceChildren(...items);
    this.list.hidden = items.length === 0;
    this.note.textContent = this.sentence(flip, changes, items.length);
    this.note.hidden = !this.note.textContent;
  }

  /** Do not apply changes that were found for another row. */
  expire() {
    for (const each of this.list.querySelectorAll("button")) each.disabled = true;
  }

  nameOf(row) {
    const { name, value, isWord } = titleOf(row, this.form.texts);
    if (isWord || value === "") return `${name} ${value}`.trim();
    return `${name} = ${formatValue(row.value, this.form.fields.get(row.feature)?.column)}`;
  }

  /** How much of the range of its column a change of a number takes; changes of levels come after small ones. */
  effort({ feature, threshold }) {
    const field = this.form.fields.get(feature);
    if (!field || threshold === null || threshold === undefined) return 0.5;
    const range = field.column.maximum - field.column.minimum || Math.abs(threshold) || 1;
    return Math.abs(threshold - field.get()) / range;
  }

  sentence(flip, changes, shown) {
    if (!shown) return `No single other value and no removal makes it anything but ${formatName(flip.verdict)}.`;
    const parts = [];
    if (changes.length > MAX_CHANGES) parts.push(`And ${formatQuantity(changes.length - MAX_CHANGES, "other single value")}.`);
    if (flip.removed.length) parts.push(flip.is_smallest ? "No smaller removal changes the verdict." : "A smaller removal may change it too.");
    return parts.join(" ");
  }

  item(words, values) {
    const line = element("li", { dir: "auto" }, element("span", {}, ...words));
    if (values) line.append(button("Apply", () => this.apply(values), { class: "small" }));
    return line;
  }

  apply(values) {
    this.before = this.form.values();
    this.back.hidden = false;
    this.form.set(values);
    this.back.focus();
  }

  putBack() {
    this.back.hidden = true;
    this.form.replace(this.before);
    this.form.focus();
  }
}
