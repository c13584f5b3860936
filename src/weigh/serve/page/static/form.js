// The form of a model: a field for each column, a button for an example, and the offer to read a pasted mail.

import { request } from "./api.js";
import { button, element } from "./dom.js";
import { createField } from "./fields.js";
import { formatQuantity } from "./format.js";

const MAX_FIELDS = 300;
const FILTERED_FROM = 25; // fields from which a filter is offered
const MAIL_HEADERS = /^(?:from|to|cc|subject|date|received|message-id|return-path|delivered-to|reply-to|mime-version|content-type|x-[\w-]+):/i;

/** Whether a text begins with the headers of a mail: at least two known ones before an empty line. */
export function looksLikeMail(text) {
  const lines = text.slice(0, 20_000).replace(/^From [^\n]*\n/, "").split(/\r?\n/);
  const end = lines.indexOf("");
  const head = lines.slice(0, end < 0 ? lines.length : end);
  const isHead = head.every((line) => /^[\w-]+:/.test(line) || /^[ \t]/.test(line));
  return isHead && head.filter((line) => MAIL_HEADERS.test(line)).length >= 2;
}

export class Form {
  /** `changed(values)` is called after each change of a value. */
  constructor(model, changed) {
    this.changed = changed;
    const columns = model.columns.filter((column) => column.kind !== "skip");
    const texts = columns.filter((column) => column.kind === "text");
    this.columns = columns.slice(0, MAX_FIELDS);
    this.texts = texts;
    const isOnlyText = texts.length === 1 && columns.length === 1;
    this.fields = new Map(
      this.columns.map((column) => [column.name, createField(column, isOnlyText, () => this.notify())]),
    );
    this.offer = element("div", { class: "offer", role: "status" });
    this.node = element(
      "form",
      { class: "fields", novalidate: true, autocomplete: "off" },
      this.filter(),
      this.offer,
      ...Array.from(this.fields.values(), (field) => field.node),
      columns.length > MAX_FIELDS
        ? element("p", { class: "note" }, `The first ${MAX_FIELDS} of ${formatQuantity(columns.length, "column")}; the others stay missing.`)
        : null,
    );
    this.node.addEventListener("submit", (event) => event.preventDefault());
    this.mail = null;
  }

  /** A box that hides the fields whose names do not contain what is typed. */
  filter() {
    if (this.fields.size < FILTERED_FROM) return null;
    const box = element("input", { type: "search", "aria-label": "Filter the columns", placeholder: "Filter the columns" });
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      for (const [name, field] of this.fields) field.node.hidden = !name.toLowerCase().includes(wanted);
    });
    return box;
  }

  /** The row: a value for each filled column. */
  values() {
    const row = {};
    for (const [name, field] of this.fields) {
      const value = field.get();
      if (value !== null) row[name] = value;
    }
    return row;
  }

  get isEmpty() {
    return Object.keys(this.values()).length === 0;
  }

  /** Whether an example can be filled in: some column is not a text. */
  get hasExample() {
    return Array.from(this.fields.values()).some((field) => field.example);
  }

  /** Set the values of some columns; null empties a field. */
  set(values) {
    for (const [name, value] of Object.entries(values)) this.fields.get(name)?.set(value);
    this.notify();
  }

  /** Set all columns, emptying those without a value. */
  replace(values) {
    this.set(Object.fromEntries(Array.from(this.fields.keys(), (name) => [name, values[name] ?? null])));
  }

  fillExample() {
    const filled = Array.from(this.fields).filter(([, field]) => field.example);
    this.set(Object.fromEntries(filled.map(([name, field]) => [name, field.example()])));
  }

  focus() {
    this.fields.values().next().value?.focus();
  }

  notify() {
    this.showOffer();
    this.changed(this.values());
  }

  showOffer() {
    const pasted = this.texts.find((column) => looksLikeMail(this.fields.get(column.name)?.get() ?? ""));
    if (pasted?.name === this.offered) return;
    this.offered = pasted?.name;
    this.offer.replaceChildren();
    if (!pasted) return;
    this.offer.append(
      element("span", {}, "This looks like a raw mail. "),
      button("Read it as mail", () => this.readMail(pasted), { class: "small" }),
    );
  }

  /** Let the server decode a pasted mail, and fill the columns that it has. */
  async readMail(column) {
    const raw = this.fields.get(column.name).get();
    const before = this.values();
    try {
      const response = await request("page/mail", { method: "POST", body: raw, headers: { "Content-Type": "message/rfc822" } });
      const mail = await response.json();
      this.set(this.mailValues(mail, column));
    } catch (problem) {
      this.offer.replaceChildren(element("span", {}, problem.message));
      return;
    }
    this.offer.replaceChildren(
      element("span", {}, "The mail was decoded. "),
      button("Back to the raw text", () => this.replace(before), { class: "small" }),
    );
  }

  /** Return the values of a mail by column: those of equal names, or subject and body in one text. */
  mailValues(mail, column) {
    const shared = Object.entries(mail).filter(([name]) => this.fields.has(name));
    const values = Object.fromEntries(shared);
    if (this.texts.length === 1 || !("text" in values)) {
      values[column.name] = [mail.subject, mail.text].filter(Boolean).join("\n\n");
    }
    return values;
  }
}
